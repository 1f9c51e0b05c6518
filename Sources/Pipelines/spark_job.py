#!/usr/bin/env python3
"""Seals a file of lines on every core of a Spark cluster.

Each partition goes through one process. A line should have an `id`: Spark runs a task again when a machine is lost.
Writes OUTPUT/sealed and OUTPUT/refused, and ends with 65 if any line was refused.

    spark-submit spark_job.py INPUT OUTPUT -- pushcrypt seal --batch --jobs 1 --topic com.example.app \
        --signing-key-file /run/secrets/signing.key
"""
import argparse, shlex, sys
from pyspark import StorageLevel
from pyspark.sql import SparkSession

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("input")
parser.add_argument("output")
parser.add_argument("command", nargs="+")
options = parser.parse_args()

# Exit codes 65 and 1 mean that lines were refused; they are answered. After any other code Spark runs the task again.
command = shlex.join(["sh", "-c", '"$@" || case $? in 1 | 65) ;; *) exit 2 ;; esac', "sh", *options.command])

context = SparkSession.builder.appName("seal").getOrCreate().sparkContext
lines = context.textFile(options.input).filter(lambda line: line.strip())
# Cached, because the two writes below would otherwise seal twice.
answers = lines.pipe(command, checkCode=True).persist(StorageLevel.DISK_ONLY)
refused = answers.filter(lambda answer: answer.startswith('{"error":'))
sealed = answers.filter(lambda answer: not answer.startswith('{"error":'))
sealed.saveAsTextFile(f"{options.output}/sealed")
refused.saveAsTextFile(f"{options.output}/refused")
counts = lines.count(), sealed.count(), refused.count()
print("spark_job: %d lines, %d sealed, %d refused" % counts)
if counts[0] != counts[1] + counts[2]:
    sys.exit("spark_job: error: some lines were not answered")
sys.exit(65 if counts[2] else 0)
