using System.Text;
using Rookery.Scripting.Compiling;
using Rookery.Scripting.Syntax;

namespace Rookery.Scripting.Tests;

/// <summary>Statements change <c>this</c> as in JavaScript.</summary>
public class StatementTests
{
    [Theory]
    [InlineData("this.n++", """{"n":5}""", """{"n":6}""")]
    [InlineData("this.n++;this.n--;--this.n", """{"n":5}""", """{"n":4}""")]
    [InlineData("this.a = this.n++ + ++this.n", """{"n":5}""", """{"n":7,"a":12}""")]
    [InlineData("const old = this.n++; this.old = old", """{"n":0.1}""", """{"n":1.1,"old":0.1}""")]
    [InlineData("this.old = this.n--", """{"n":"0.1"}""", """{"n":-0.9,"old":0.1}""")]
    [InlineData("let n = 0.1; this.a = [n++, n++, n]", "{}", """{"a":[0.1,1.1,2.1]}""")]
    [InlineData("let v = null, w = true; this.a = [v++, v, w--, w]", "{}", """{"a":[0,1,1,0]}""")]
    [InlineData(
        "let i = 0; this.old = this.l[i++]++ + this.l[i++]--; this.i = i",
        """{"l":[0.1,0.2]}""",
        """{"l":[1.1,-0.8],"old":0.30000000000000004,"i":2}"""
    )]
    [InlineData(
        "function owner(o) { o.calls++; return o } this.old = owner(this).n++",
        """{"n":0.1,"calls":0}""",
        """{"n":1.1,"calls":1,"old":0.1}"""
    )]
    [InlineData("for (let i = 0; i < 3; i++) { this.n = i }", "{}", """{"n":2}""")]
    [InlineData("this.n += args.v", """{"n":5}""", """{"n":12}""")]
    [InlineData("this.n -= 1; this.n *= 3; this.n /= 2; this.n %= 4", """{"n":5}""", """{"n":2}""")]
    [InlineData("this.s += '!' + $v", """{"s":"a"}""", """{"s":"a!7"}""")]
    [InlineData("this.a = {b:[1,{c:args.v}]}", "{}", """{"a":{"b":[1,{"c":7}]}}""")]
    [InlineData("this.a.b.c = 1", """{"a":{"b":{}}}""", """{"a":{"b":{"c":1}}}""")]
    [InlineData("this['a b'] = 1\nthis.c = 2", "{}", """{"a b":1,"c":2}""")]
    [InlineData("this.l[1] = 'x'; this.l[3] = 'y'", """{"l":[1,2,3]}""", """{"l":[1,"x",3,"y"]}""")]
    [InlineData("this.l[0].q += 2", """{"l":[{"q":1}]}""", """{"l":[{"q":3}]}""")]
    [InlineData(
        "if (this.n > 3) { this.big = true } else { this.big = false }",
        """{"n":5}""",
        """{"n":5,"big":true}"""
    )]
    [InlineData(
        "if (this.n > 9) this.big = true; else if (this.n > 4) this.big = 'mid'; else this.big = false;",
        """{"n":5}""",
        """{"n":5,"big":"mid"}"""
    )]
    [InlineData("this.tags.push('x', args.v)", """{"tags":["a"]}""", """{"tags":["a","x",7]}""")]
    [InlineData(
        "this.tags = this.tags.filter(t => t != 'x')",
        """{"tags":["a","x","b","x"]}""",
        """{"tags":["a","b"]}"""
    )]
    [InlineData(
        "for (const l of this.lines) { l.total = l.q * l.p; this.sum = (this.sum || 0) + l.total }",
        """{"lines":[{"q":2,"p":3},{"q":1,"p":5}]}""",
        """{"lines":[{"q":2,"p":3,"total":6},{"q":1,"p":5,"total":5}],"sum":11}"""
    )]
    [InlineData(
        "let s = 0; for (let x of this.l) { if (x < 0) continue; if (x > 5) break; s += x } this.s = s",
        """{"l":[1,-2,3,9,4]}""",
        """{"l":[1,-2,3,9,4],"s":4}"""
    )]
    [InlineData("for (const x of this.none) { this.a = 1 }", "{}", "{}")]
    [InlineData("var a = 1, b; this.a = a; this.b = b; this.c = b === undefined", "{}", """{"a":1,"c":true}""")]
    [InlineData("{ let a = 1; { let a = 2; this.x = a } this.y = a }", "{}", """{"x":2,"y":1}""")]
    [InlineData("for (var l of [1]) this.x = l; for (var l of [2]) this.y = l", "{}", """{"x":1,"y":2}""")]
    [InlineData("function f() { return 1 } { let f = 2; this.x = f } this.y = f()", "{}", """{"x":2,"y":1}""")]
    [InlineData("this.x = (null ?? 0) || 2; this.y = null ?? (0 && 1)", "{}", """{"x":2,"y":0}""")]
    [InlineData(
        "delete this.a.b; delete this['c']; delete this.none",
        """{"a":{"b":1,"d":2},"c":3}""",
        """{"a":{"d":2}}"""
    )]
    [InlineData("this.a = undefined; this.b = null", """{"a":1}""", """{"b":null}""")]
    [InlineData("return; this.a = 1", "{}", "{}")]
    [InlineData("if (!this.a) return; this.b = 1", """{"a":1}""", """{"a":1,"b":1}""")]
    [InlineData("function twice(x) { return x * 2 } this.n = twice(twice(this.n))", """{"n":5}""", """{"n":20}""")]
    [InlineData("function f(n) { return n < 2 ? 1 : n * f(n - 1) } this.n = f(5)", """{"n":5}""", """{"n":120}""")]
    [InlineData("function f(a, b) { return b } this.a = f(1); this.b = f(1, 2, 3)", "{}", """{"b":2}""")]
    [InlineData(
        "this.a = this.l.map(x => { if (x > 1) { for (const y of [x, 0]) { return y } } return 'one' })",
        """{"l":[1,2]}""",
        """{"l":[1,2],"a":["one",2]}"""
    )]
    [InlineData(
        "this.m = this.l.map(x => { this.l.push(x + 2); return x })",
        """{"l":[1,2]}""",
        """{"l":[1,2,3,4],"m":[1,2]}"""
    )]
    [InlineData("this.l.forEach((x, i) => { this.l[i + 2] = x })", """{"l":[1,2]}""", """{"l":[1,2,1,2]}""")]
    [InlineData(
        "function grow(x, l) { l.push(x); return true } this.n = this.l.filter(x => grow(x, this.l)).length",
        """{"l":[1,2]}""",
        """{"l":[1,2,1,2],"n":2}"""
    )]
    [InlineData(
        "this.n = this.l.reduce((n, x) => { this.l.unshift(9); return n + x }, 0)",
        """{"l":[1,2]}""",
        """{"l":[9,9,1,2],"n":2}"""
    )]
    [InlineData(
        "function place(x, i) { return i + x } this.l = this.l.map(place)",
        """{"l":["a","b"]}""",
        """{"l":["0a","1b"]}"""
    )]
    [InlineData(
        "function f(x, i, all, more) { return x + i + all.length + typeof more } this.l = this.l.map(f)",
        """{"l":["a","b"]}""",
        """{"l":["a02undefined","b12undefined"]}"""
    )]
    [InlineData(
        "function f(s, x, i, all, more) { return s + x + i + all.length + typeof more } this.l = this.l.reduce(f, '')",
        """{"l":["a","b"]}""",
        """{"l":"a02undefinedb12undefined"}"""
    )]
    [InlineData(
        "this.m = this.l.filter((x, i, all) => all.indexOf(x) === i); this.l.forEach((x, i, l) => { l[i] = 0 })",
        """{"l":[1,2,1]}""",
        """{"l":[0,0,0],"m":[1,2]}"""
    )]
    [InlineData(
        "this.m = this.l.map(x => { this.l.pop(); return x })",
        """{"l":[1,2,3,4]}""",
        """{"l":[1,2],"m":[1,2,null,null]}"""
    )]
    [InlineData(
        "function cut(x, i, l) { l.shift(); return x } this.m = this.l.map(cut)",
        """{"l":[1,2,3]}""",
        """{"l":[3],"m":[1,3,null]}"""
    )]
    [InlineData(
        "this.i = this.l.findIndex(x => { this.l.splice(0, 1); return x === undefined })",
        """{"l":[1,2,3]}""",
        """{"l":[],"i":2}"""
    )]
    [InlineData("this.n = this.l.filter(x => this.l.pop()).length", """{"l":[1,2,3]}""", """{"l":[1],"n":2}""")]
    [InlineData("const l = this.l; l.push(1); this.m = l", """{"l":[]}""", """{"l":[1],"m":[1]}""")]
    [InlineData(
        "this.l.splice(1, 1); this.l.splice(0, 0, 'a', 'b'); this.x = this.l.splice(-1)",
        """{"l":[1,2,3]}""",
        """{"l":["a","b",1],"x":[3]}"""
    )]
    [InlineData(
        "this.x = this.l.pop(); this.y = this.l.shift(); this.z = this.l.unshift(7, 8)",
        """{"l":[1,2,3]}""",
        """{"l":[7,8,2],"x":3,"y":1,"z":3}"""
    )]
    [InlineData("// comment\nthis.a = 1 /* other */; ;", "{}", """{"a":1}""")]
    [InlineData(
        "this.id = this.id; this.q = [this.id]",
        """{"id":9007199254740993}""",
        """{"id":9007199254740993,"q":[9007199254740993]}"""
    )]
    [InlineData("this.f = this.f", """{"f":1.50,"e":"\u0041\n"}""", """{"f":1.50,"e":"\u0041\n"}""")]
    [InlineData("this.\u00e9 = 2", """{"\u00e9":1}""", """{"\u00e9":2}""")]
    [InlineData("this.i = this['@metadata']['@collection'] + '/' + id(this)", "{}", """{"i":"undefined/users/1"}""")]
    [InlineData("this.c = getMetadata(this).k", """{"@metadata":{"k":5}}""", """{"c":5}""")]
    [InlineData("this.a = args.none; this.b = $v.x.y", "{}", "{}")]
    [InlineData(
        "Object.keys(this).forEach(k => { this[k] = k + this[k] })",
        """{"a":1,"b":2}""",
        """{"a":"a1","b":"b2"}"""
    )]
    public void A_script_changes_the_document(string script, string document, string result) =>
        Assert.Equal(result, Scripts.Patch(script, document, """{"v":7}"""));

    [Theory]
    [InlineData("this.a.b = 1", "{}", "'b' cannot be set, because the object it would belong to does not exist")]
    [InlineData("this.a.b = 1", """{"a":5}""", "'b' cannot be set, because its target is no object")]
    [InlineData("this.l[5] = 1", """{"l":[1]}""", "would leave a gap")]
    [InlineData("this.l.x = 1", """{"l":[1]}""", "no object")]
    [InlineData("delete this.l[0]", """{"l":[1]}""", "gap")]
    [InlineData("this.l.push(1)", "{}", "calls push on an array that does not exist")]
    [InlineData("this.l.push(1)", """{"l":{}}""", "calls push on a value that is no array")]
    [InlineData("this.a.trim()", """{"a":5}""", "calls trim on a value that is no text")]
    [InlineData("for (const x of this.a) {}", """{"a":5}""", "no array")]
    [InlineData("this['@meta' + 'data'] = 1", "{}", "metadata cannot be changed")]
    [InlineData("this['@metadata'] = 1", "{}", "metadata can only be set to an object")]
    [InlineData("this['@metadata'] = this", "{}", "metadata can only be set to an object")]
    [InlineData("this.a = this", "{}", "nested deeper")]
    [InlineData("this.a = this.s.slice(0, 2)", """{"s":"x😀"}""", "cut inside a surrogate pair")]
    [InlineData("this.a = [this.s[1]]", """{"s":"x😀"}""", "cut inside a surrogate pair")]
    [InlineData("this[this.s[1]] = 1", """{"s":"x😀"}""", "cut inside a surrogate pair")]
    [InlineData("this.a = this.s.indexOf(this.s[1])", """{"s":"x😀"}""", "searches for a text that was cut")]
    [InlineData("this.a = this.s.replaceAll('', \"$'\")", """{"s":"x😀"}""", "inside a surrogate pair")]
    public void A_script_that_does_not_fit_the_document_fails_with_the_reason(
        string script,
        string document,
        string reason
    )
    {
        string result = Scripts.Patch(script, document);
        Assert.StartsWith("failed: ", result, StringComparison.Ordinal);
        Assert.Contains(reason, result, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("for (x of this.l) {}", "'for' with a variable that is declared before", 0)]
    [InlineData("for (x in this.l) {}", "'for' with a variable that is declared before", 0)]
    [InlineData("for (const [k, v] of this.l) {}", "destructuring", 11)]
    [InlineData("for (this.k in this.l) {}", "'for' with a variable that is declared before", 0)]
    [InlineData("for (let k = 'x' in this; k; k = false) {}", "'for' with a variable", 0)]
    [InlineData("throw new Error('a', { cause: 1 })", "'Error' with 2 arguments", 6)]
    [InlineData("this.o?.b ??= 1", "an assignment after '?.'", 6)]
    [InlineData("this.o?.b.c = 1", "an assignment after '?.'", 9)]
    [InlineData("switch (this.n) { case 1: let x = 1; case 2: this.a = x }", "'let' in a clause of 'switch'", 26)]
    [InlineData("this.a = new Map()", "'new Map'", 9)]
    [InlineData("this.a = /(?=x)/.test(this.b)", "a regular expression with a lookahead", 9)]
    [InlineData("cmpxchg('a')", "the function 'cmpxchg'", 0)]
    [InlineData("this.a = this.b.normalize('x')", "the method 'normalize'", 15)]
    [InlineData("this.a = Math.random()", "the function 'Math.random'", 9)]
    [InlineData("this.a = Math.none", "'Math.none'", 9)]
    [InlineData("this.a = b", "the name 'b', which is not defined here", 9)]
    [InlineData("let f = x => x", "functions in variables", 8)]
    [InlineData("const {a} = this", "destructuring", 6)]
    [InlineData("this.a = this.b instanceof c", "the operator 'instanceof'", 16)]
    [InlineData("try { this.a = 1 } catch (e) {}", "'try'", 0)]
    [InlineData("class A {}", "classes", 0)]
    [InlineData("async () => 1", "asynchronous functions", 0)]
    [InlineData("x: this.a = 1", "labels", 0)]
    [InlineData("this.a = { b() { } }", "methods in object literals", 11)]
    [InlineData("this.a = b`x`", "tagged templates", 10)]
    [InlineData("this.l.map((...x) => x)", "rest parameters", 12)]
    [InlineData("eval('1')", "the function 'eval'", 0)]
    [InlineData("this.a = this.l.map(function (x) { return this.n })", "'this' inside 'function'", 42)]
    [InlineData("this.a = '\\uD83D'", "half of a surrogate pair", 10)]
    [InlineData("this.constructor.constructor('x')()", "calls of anything but a name", 33)]
    public void An_unsupported_construct_is_named_with_its_position(string script, string construct, int position)
    {
        var refusal = Assert.Throws<ScriptException>(() => JavaScript.CompilePatch(script));
        Assert.Equal(ScriptFault.NotSupported, refusal.Fault);
        Assert.Contains(construct, refusal.Message, StringComparison.Ordinal);
        Assert.Equal(position, refusal.Position);
    }

    /// <summary>Each text is valid JavaScript, so it must be rejected as unsupported, not as a syntax error.</summary>
    [Theory]
    [InlineData("this.a = 0b101 + 0O17")]
    [InlineData("this.a = 1_000")]
    [InlineData("this.a = 1n")]
    [InlineData("this.a = 017")]
    [InlineData("this.a = 09.5")]
    [InlineData("this.a = 0xFFFFFFFFFFFFFFFF")]
    [InlineData("this.a = '\\101'")]
    [InlineData("this.a = '\\8'")]
    [InlineData("this.\\u0061 = 1")]
    [InlineData("let \\u{61} = 1")]
    [InlineData("this.a = {get b() { return 1 }}")]
    [InlineData("this.a = {get [this.b]() { }}")]
    [InlineData("this.a = {set 'b'(c) { }}")]
    [InlineData("this.a = {get 1() { }}")]
    [InlineData("this.a = {async [this.b]() { }}")]
    [InlineData("this.a = {async b() { }}")]
    [InlineData("{ using a = this.b; }")]
    [InlineData("this.a = {*b() { }}")]
    [InlineData("this.a = {'b'() { }}")]
    [InlineData("this.a = {1() { }}")]
    [InlineData("this.a = {[this.b]() { }}")]
    [InlineData("({b = 1} = this)")]
    [InlineData("let a = 1; { this.a = a; let a = 2 }")]
    [InlineData("[this.a] = [1]")]
    [InlineData("[this.a, this.b] = [this.b, this.a]")]
    [InlineData("({a: this.b} = this)")]
    [InlineData("for (const [k, v] of this.a) { }")]
    [InlineData("for (const {k} of this.a) { }")]
    [InlineData("for (x of this.a) { }")]
    [InlineData("for await (const k of this.a) { }")]
    [InlineData("let a = 1, b = 2; [a, b] = [b, a]")]
    [InlineData("this.a = x => ({})")]
    [InlineData("this.l.map(([a, b]) => a)")]
    [InlineData("this.l.map(({a}) => a)")]
    [InlineData("this.l.map((a, {b}) => a)")]
    [InlineData("this.l.map((a = 1) => a)")]
    [InlineData("this.l.map((a, b = 1) => a)")]
    [InlineData("this.l.map((a, ...b) => a)")]
    [InlineData("this.l.map(async a => a)")]
    [InlineData("this.l.map(async (a) => a)")]
    [InlineData("this.l.map(function* (a) { })")]
    [InlineData("this.l.map(async function (a) { })")]
    [InlineData("this.a = Math.max(...this.l)")]
    [InlineData("this.a = this.b?.()")]
    [InlineData("this.a = this.b?.[0]")]
    [InlineData("this.a **= 2")]
    [InlineData("this.a = b ? (c, d) : e")]
    [InlineData("this.a = [,1]")]
    [InlineData("this.a = void 0")]
    [InlineData("this.a = delete this.b")]
    [InlineData("delete this")]
    [InlineData("let x; delete x")]
    [InlineData("delete f()")]
    [InlineData("this.a = #b in this")]
    [InlineData("this.a = new.target")]
    [InlineData("this.a = import.meta")]
    [InlineData("debugger")]
    [InlineData("with (this) { }")]
    [InlineData("var let = 1")]
    [InlineData("let async = 1; this.a = async")]
    [InlineData("let of = 1; this.a = of")]
    [InlineData("let get = 1; this.a = get")]
    [InlineData("let yield = 1; this.a = yield")]
    [InlineData("let await = 1; this.a = await")]
    [InlineData("let await; this.a = await")]
    [InlineData("var a; var a = 1")]
    [InlineData("var a = 1; function a() { }")]
    [InlineData("function f() { } function f() { } f()")]
    [InlineData("function f(a, a) { return a }")]
    [InlineData("function f(a) { var a = 1; return a }")]
    [InlineData("{ function f() { return 1 } } this.a = 1")]
    [InlineData("if (this.a) function f() { }")]
    [InlineData("label: for (const x of this.a) { continue label }")]
    [InlineData("this.a = /a[/]b/gi")]
    [InlineData("this.a = this.b / 2 / 3")]
    [InlineData("this.a = `${`${1}`}`")]
    [InlineData("this.a = `}`")]
    [InlineData("this.a = String.raw`a`")]
    [InlineData("this.a\u2003=\u20031")]
    [InlineData("this.a = 1 // x\u2028this.b = 2")]
    [InlineData("<!-- a comment")]
    [InlineData("#!shebang")]
    [InlineData("'use strict'; this.a = 1")]
    [InlineData("this.a = {__proto__: null}")]
    [InlineData("this.__proto__ = null")]
    [InlineData("this.a = this.constructor.name")]
    [InlineData("this.if = 1; this.a = {new: 1, class: 2}")]
    [InlineData("this.a\n++\nthis.b")]
    [InlineData("let x = 1\nlet y = 2\nthis.a = x + y")]
    [InlineData("this.a = function () { }")]
    [InlineData("(function () { })()")]
    [InlineData("(() => { })()")]
    [InlineData("this.a = (x => x)(1)")]
    [InlineData("(this.a) = 1")]
    [InlineData("this.a = typeof typeof 1")]
    [InlineData("this.a = - - 1; this.b = + +1; this.c = !(-1)")]
    [InlineData("this.a = a => { }")]
    [InlineData("const a = 1; { a }")]
    [InlineData("this.a = 5..toString() + 5 .toString() + 1.5.toFixed()")]
    [InlineData("arguments[0]")]
    [InlineData("globalThis")]
    [InlineData("x = 1")]
    [InlineData("this.a = x; var x = 1")]
    public void JavaScript_runs_or_is_refused_by_name(string script)
    {
        var refusal = Record.Exception(() => JavaScript.CompilePatch(script));
        Assert.True(refusal is null or ScriptException { Fault: ScriptFault.NotSupported }, $"{refusal?.Message}");
    }

    [Theory]
    [InlineData("this.a =", 8)]
    [InlineData("this.a = 'x", 9)]
    [InlineData("this.a = (1", 11)]
    [InlineData("if this.a { }", 3)]
    [InlineData("this.a = 1 this.b = 2", 11)]
    [InlineData("this.a = 1 }", 11)]
    [InlineData("1 = this.a", 0)]
    [InlineData("this = 1", 0)]
    [InlineData("this.a = [1, 2", 14)]
    [InlineData("this.a = {a 1}", 10)]
    [InlineData("const a = 1; a = 2", 13)]
    [InlineData("for (const a of this.l) { a = 2 }", 26)]
    [InlineData("let a; let a", 11)]
    [InlineData("let f = 1; function f() { }", 4)]
    [InlineData("function f() { } const g = 1, f = 2", 30)]
    [InlineData("this.a = 12abc", 9)]
    [InlineData("this.a = '\\u12'", 10)]
    [InlineData("this.a = this.b ?? this.c || 2", 16)]
    [InlineData("this.a = this.b && this.c ?? 2", 26)]
    [InlineData("this.a = null ?? 0 && (1 || 2)", 14)]
    [InlineData("this.l.map(a => { let a; return a })", 22)]
    [InlineData("this.l.map((a, b) => { const b = 1; return b })", 29)]
    [InlineData("{ var a = 1 } let a = 2", 18)]
    [InlineData("if (this.b) let a = 1", 12)]
    [InlineData("for (const x of this.l) const a = 1", 24)]
    [InlineData("let let = 1", 4)]
    [InlineData("this.a = {this}", 10)]
    [InlineData("this.a = {b, null}", 13)]
    [InlineData("break", 0)]
    [InlineData("this.a = `x${1`", 9)]
    [InlineData("", 0)]
    [InlineData("/* x", 0)]
    public void Invalid_JavaScript_is_refused_with_its_position(string script, int position)
    {
        var refusal = Assert.Throws<ScriptException>(() => JavaScript.CompilePatch(script));
        Assert.Equal(ScriptFault.Syntax, refusal.Fault);
        Assert.Equal(position, refusal.Position);
    }

    /// <summary>JavaScript gives the variable or function another meaning than the text here would have.</summary>
    [Theory]
    [InlineData("function f() { return 1 } { var f = 2 } this.a = f()", "a variable and a function of the name 'f'")]
    [InlineData(
        "function f() { return 1 } for (var f of [2]) { } this.a = f()",
        "a variable and a function of the name"
    )]
    [InlineData("if (this.b) { var f = 1 } function f() { }", "a variable and a function of the name 'f'")]
    [InlineData("const a = [1]; for (const a of a) { }", "'a' before its declaration")]
    [InlineData("function Math() { } this.a = Math.max(1, 2)", "the method 'max'")]
    [InlineData("let undefined = 1; this.a = undefined", "a variable of the name 'undefined'")]
    [InlineData("this.a = this.l.map(function (x) { return `${this.b}` })", "'this' inside 'function'")]
    public void A_name_with_another_meaning_in_JavaScript_is_refused(string script, string construct)
    {
        var refusal = Assert.Throws<ScriptException>(() => JavaScript.CompilePatch(script));
        Assert.Equal(ScriptFault.NotSupported, refusal.Fault);
        Assert.Contains(construct, refusal.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_refusal_shows_its_line_and_a_caret()
    {
        const string Script = "this.a = 1;\n  this.b = 2 instanceof 3;\n";
        var refusal = Assert.Throws<ScriptException>(() => JavaScript.CompilePatch(Script));
        Assert.Equal(
            "This server does not run the operator 'instanceof'\n  this.b = 2 instanceof 3;\n             ^",
            refusal.Describe(Script)
        );
    }

    [Theory]
    [InlineData("throw 'x';\nthis.a = 1;", 1)]
    [InlineData("\nthrow 'x';", 2)]
    [InlineData("this.a = 1;\r\n\r\nthrow 'x';", 3)]
    [InlineData("if (this.a) {\n  this.b = 1;\n} else {\n  this.c = 1;\n}\nthrow 'x'", 6)]
    [InlineData("function f(a) {\n  throw a;\n}\nthis.a = 1;\nf('x');", 2)]
    [InlineData("this.none.deep = [1].map(function (a) {\n  return a;\n});", 1)]
    [InlineData("for (let i = 0; ; this.none.deep = 1) {\n  this.a = 1;\n}", 1)]
    public void A_patch_of_several_lines_that_fails_names_the_line(string script, int line) =>
        Assert.EndsWith($" (line {line})", Scripts.Patch(script, "{}"), StringComparison.Ordinal);

    [Fact]
    public void A_patch_of_one_line_that_fails_names_no_line() =>
        Assert.Equal("failed: the script throws 'x'", Scripts.Patch("this.a = 1; throw 'x'", "{}"));

    [Theory]
    [InlineData("")]
    [InlineData("x")]
    public void A_refusal_shows_a_long_line_from_and_to_a_whole_character(string before)
    {
        string text = before + string.Concat(Enumerable.Repeat("😀", 200));
        string shown = new ScriptException(ScriptFault.Syntax, "Wrong", 200).Describe(text).Split('\n')[1];
        Assert.Equal(shown, Encoding.UTF8.GetString(Encoding.UTF8.GetBytes(shown)));
    }
}
