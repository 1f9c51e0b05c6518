// Answers, for providers; answers.d.ts documents it.
"use strict";

const { AnswerSecret, openAnswer } = require("./lib/answers.js");

module.exports = { AnswerSecret, openAnswer };
