#!/usr/bin/env python3
"""Fills in the status lines, and the JSON form of messages, of transcripts: record.py PROGRAM FILE..."""
import sys,os,re,json,subprocess,tempfile,shutil
program=os.path.abspath(sys.argv[1])
STATUS=re.compile(r'^pushcrypt: (?!error:|warning:|hint:|sealed |opened |summary |withheld )')
def rx(p): return '^'+'.*'.join(re.escape(x) for x in p.split('…'))+'$'
def same(line,pat): return re.match(rx(pat),line,re.S) is not None
def general(s):
    s=re.sub(r'pc[rs]x?1[a-z0-9]{20,}','pcr1…' if 'pcr' in s else 'pcs1…',s)
    s=re.sub(r'\b[0-9a-f]{8}\b(, [0-9a-f]{8}\b)*','…',s)
    s=re.sub(r'20\d\d-\d\d-\d\dT[0-9:.]+Z?','…',s)
    s=re.sub(r'20\d\d-\d\d-\d\d[0-9:. TZ]*','…',s)
    s=re.sub(r'/tmp/\S*?pushcrypt-rec-[^/ \']*','…',s)
    return s
def full(actual,exp):
    if not exp: return not actual
    if exp[0]=='…': return any(full(actual[i:],exp[1:]) for i in range(len(actual)+1))
    return bool(actual) and same(actual[0],exp[0]) and full(actual[1:],exp[1:])
def plain(line):
    if line.startswith('{"event":'):
        try: d=json.loads(line)
        except ValueError: return line
        if d['event'] in('error','warning','hint'): return f"pushcrypt: {d['event']}: {d['message']}"
        if d['event']=='changed': return 'pushcrypt: '+d['message']
    return line
def merge(actual,exp):
    """expected patterns with status lines put in; None when it does not fit"""
    out=[];e=list(exp)
    for i,line in enumerate(actual):
        p=plain(line)
        if e and e[0]!='…' and (same(line,e[0])): out.append(e.pop(0));continue
        if e and e[0]!='…' and same(p,e[0]) and p!=line:
            d=json.loads(line)
            pat=e.pop(0).split(': ',2)[-1] if d['event']!='changed' else e.pop(0)
            body={k:v for k,v in d.items() if k!='message'}
            t=json.dumps(body,separators=(',',':'))[:-1]+',"message":'+json.dumps(pat,ensure_ascii=False)+'}'
            out.append(t);continue
        if STATUS.match(p): out.append(general(line));continue
        return None
    return out if not e else None
def split(lines): return lines
for f in sys.argv[2:]:
    text=open(f).read().split('\n')
    if text[-1]=='': text.pop()
    steps=[];files={};cur=None;needs=[]
    for i,l in enumerate(text):
        if l.startswith('-- ') and l.endswith(' --') and len(l)>6: cur=l[3:-3];files[cur]=''
        elif cur is not None: files[cur]+=l+'\n'
        elif l.startswith('? ') and not steps: needs.append(l[2:])
        elif l.startswith('$ '): steps.append({'i':i,'cmd':l[2:],'err':[],'errlines':[],'last':i})
        elif steps and (l=='2>' or l.startswith('2> ')): steps[-1]['err'].append(l[3:]);steps[-1]['errlines'].append(i);steps[-1]['last']=i
        elif steps and (l.startswith('>') or l.startswith('! ')):
            steps[-1]['last']=i
            if l[0]=='!': steps[-1]['exit']=int(l[2:]);steps[-1]['exitline']=i
            else: steps[-1].setdefault('out',[]).append(l[2:])
    d=tempfile.mkdtemp(prefix='pushcrypt-rec-')
    for n,t in files.items():
        p=os.path.join(d,n);os.makedirs(os.path.dirname(p),exist_ok=True);open(p,'w').write(t);os.chmod(p,0o644)
    env={'PATH':os.path.dirname(program)+':/usr/bin:/bin:/opt/swift/usr/bin','HOME':d,'LC_ALL':'C.UTF-8'}
    if 'TMPDIR' in os.environ: env['TMPDIR']=os.environ['TMPDIR']
    nd=tempfile.mkdtemp(prefix='pushcrypt-rec-')
    ok=all(subprocess.run(['/bin/sh','-c',n],cwd=nd,env=env,stdout=subprocess.DEVNULL,stderr=subprocess.DEVNULL,stdin=subprocess.DEVNULL).returncode==0 for n in needs);shutil.rmtree(nd,ignore_errors=True)
    if not ok: print(f,'SKIPPED');shutil.rmtree(d,ignore_errors=True);continue
    edits=[];bad=0;fixed=False
    for s in steps:
        with tempfile.TemporaryFile() as e, tempfile.TemporaryFile() as o:
            rc=subprocess.run(['/bin/sh','-c',s['cmd']],cwd=d,env=env,stdin=subprocess.DEVNULL,stdout=o,stderr=e).returncode
            o.seek(0);got=o.read().decode('utf-8','replace').split('\n')
            if got[-1]=='': got.pop()
            if rc==65 and s.get('exit')==1: text[s['exitline']]='! 65';rc=1;fixed=True
            if rc!=s.get('exit',0): print(f"{f}:{s['i']+1}: {s['cmd']}: EXIT {rc}")
            if len(got)<400 and not full(got,s.get('out',[])): print(f"{f}:{s['i']+1}: {s['cmd']}: OUTPUT {got[:12]}")
            e.seek(0);err=e.read().decode('utf-8','replace')
        actual=err.split('\n')
        if actual[-1]=='': actual.pop()
        if full(actual,s['err']): continue
        m=merge(actual,s['err'])
        if m is None:
            bad+=1;print(f"{f}:{s['i']+1}: {s['cmd']}\n   expected {s['err']}\n   actual   {actual}");continue
        edits.append((s,m))
    for s,m in reversed(edits):
        new=['2> '+x if x else '2>' for x in m]
        if s['errlines']:
            at=s['errlines'][0]
            for i in reversed(s['errlines']): del text[i]
        else: at=s['last']+1
        text[at:at]=new
    if edits or fixed: open(f,'w').write('\n'.join(text)+'\n')
    print(f,len(edits),'steps changed',bad,'not understood')
    shutil.rmtree(d,ignore_errors=True)
