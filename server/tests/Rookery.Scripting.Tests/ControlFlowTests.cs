namespace Rookery.Scripting.Tests;

/// <summary>
/// Loops, <c>switch</c>, <c>throw</c>, <c>var</c>, bitwise operators and sorts by a function have the results of Node.
/// </summary>
public class ControlFlowTests
{
    [Theory]
    [InlineData("for (var i = 0; i < this.l.length; i++) this.l[i] *= 2", """{"l":[1,2]}""", """{"l":[2,4]}""")]
    [InlineData(
        "for (let i = 0, j = 9; ; i++, j--) { if (i === 2) continue; if (i > 3) break; this.n = i + j; this['m' + i] = j }",
        "{}",
        """{"n":9,"m0":9,"m1":8,"m3":6}"""
    )]
    [InlineData("let n = this.n; this.r = 1; while (n > 1) this.r *= n--", """{"n":5}""", """{"n":5,"r":120}""")]
    [InlineData("do { this.n++ } while (this.n < 3)", """{"n":7}""", """{"n":8}""")]
    [InlineData("do this.n++; while (this.n < 3) this.m = 1", """{"n":1}""", """{"n":3,"m":1}""")]
    [InlineData(
        "for (const k in this.o) { delete this.o.b; this.s = (this.s ?? '') + k }",
        """{"o":{"a":1,"b":2,"c":3}}""",
        """{"o":{"a":1,"c":3},"s":"ac"}"""
    )]
    [InlineData("for (var i in this.l) this.l[i] += i", """{"l":["a","b"]}""", """{"l":["a0","b1"]}""")]
    [InlineData("this.n = 0; for (const k in this.none) this.n++; for (const k in 'ab') this.n++", "{}", """{"n":2}""")]
    [InlineData(
        "switch (this.s) { case 'a': this.x = 1; case 'b': this.y = 1; break; default: this.z = 1 }",
        """{"s":"a"}""",
        """{"s":"a","x":1,"y":1}"""
    )]
    [InlineData(
        "switch (this.s) { default: this.z = 1; case 1: this.x = 1; break; case '1': { let y = 2; this.y = y } }",
        """{"s":true}""",
        """{"s":true,"z":1,"x":1}"""
    )]
    [InlineData(
        "for (const x of this.l) { switch (x) { case 1: continue; case 2: break } this.n = x }",
        """{"l":[2,1]}""",
        """{"l":[2,1],"n":2}"""
    )]
    [InlineData("this.a = (1, 2); this.b = 3, this.c = 4", "{}", """{"a":2,"b":3,"c":4}""")]
    [InlineData(
        "this.a ??= 1; this.b ||= 2; this.c &&= 3; this.c &&= 4",
        """{"b":0,"c":1}""",
        """{"b":2,"c":4,"a":1}"""
    )]
    [InlineData(
        "let i = 0; this.l[i++] ??= 5; this.l[i++] ||= 6; this.i = i",
        """{"l":[null,1]}""",
        """{"l":[5,1],"i":2}"""
    )]
    [InlineData(
        "this.a = 5 & 3; this.b = 5 | 3; this.c = 5 ^ 3; this.d = ~5; this.e = 1 << 33; this.f = -9 >> 1; this.g = -1 >>> 0",
        "{}",
        """{"a":1,"b":7,"c":6,"d":-6,"e":2,"f":-5,"g":4294967295}"""
    )]
    [InlineData("this.n |= 4; this.n <<= 2; this.n ^= 1; this.n &= ~2; this.n >>= 1", """{"n":1}""", """{"n":10}""")]
    [InlineData(
        "this.n = 4294967297.9 | 0; this.m = -1e21 | 0; this.k = 'x' | 0",
        "{}",
        """{"n":1,"m":559939584,"k":0}"""
    )]
    [InlineData("{ var a = 1 } this.a = a; this.b = b; var b = 2; var a; this.c = a", "{}", """{"a":1,"c":1}""")]
    [InlineData(
        "for (var i = 0; i < 1; i++) { var s; s = (s ?? 0) + 1 } for (var i = 5; i < 7; i++) { var s; s++ } this.s = s + i",
        "{}",
        """{"s":10}"""
    )]
    [InlineData(
        "this.m = this.l.map(x => { if (x > 1) var y = x; return y ?? 'none' })",
        """{"l":[2,1]}""",
        """{"l":[2,1],"m":[2,"none"]}"""
    )]
    [InlineData(
        "function f(a) { if (!a) { var a = 5 } return a } this.a = f(); this.b = f(1)",
        "{}",
        """{"a":5,"b":1}"""
    )]
    [InlineData(
        "this.a = 'n' in this; this.b = 'x' in this; this.c = [1 in this.l, 2 in this.l, 'length' in this.l]",
        """{"n":null,"l":[5,6]}""",
        """{"n":null,"l":[5,6],"a":true,"b":false,"c":[true,false,true]}"""
    )]
    [InlineData("this.l.sort((a, b) => b - a)", """{"l":[2,10,1]}""", """{"l":[10,2,1]}""")]
    [InlineData(
        "this.l.sort((a, b) => a.p - b.p || a.n.length - b.n.length)",
        """{"l":[{"p":2,"n":"x"},{"p":1,"n":"yy"},{"p":1,"n":"y"},{"p":2,"n":"z"}]}""",
        """{"l":[{"p":1,"n":"y"},{"p":1,"n":"yy"},{"p":2,"n":"x"},{"p":2,"n":"z"}]}"""
    )]
    [InlineData(
        "this.m = this.l.map(x => x.v).sort(function (a, b) { return a < b ? -1 : 1 }); this.k = this.m.length",
        """{"l":[{"v":3},{},{"v":1},{},{"v":2}]}""",
        """{"l":[{"v":3},{},{"v":1},{},{"v":2}],"m":[1,2,3,null,null],"k":5}"""
    )]
    [InlineData(
        "this.l.sort((a, b) => { this.seen = this.l[0].k[0]; return a.k.slice().sort((c, d) => d - c)[0] - b.k[0] })",
        """{"l":[{"k":[3]},{"k":[1,2]}]}""",
        """{"l":[{"k":[1,2]},{"k":[3]}],"seen":3}"""
    )]
    [InlineData("function by(a, b, c) { return c ?? a - b } this.l.sort(by)", """{"l":[2,1]}""", """{"l":[1,2]}""")]
    [InlineData("if (this.n < 0) throw new Error('negative'); this.n--", """{"n":1}""", """{"n":0}""")]
    [InlineData(
        "for (var k in this.o) { delete this.o.b } this.k = k",
        """{"o":{"a":1,"b":2}}""",
        """{"o":{"a":1},"k":"a"}"""
    )]
    [InlineData(
        "for (const k in this.o) { delete this.o[k]; this.n++ }",
        """{"o":{"a":1,"b":2,"c":3},"n":0}""",
        """{"o":{},"n":3}"""
    )]
    [InlineData(
        "for (const k in this.o) { this.o['x' + k] = 1; delete this.o.b }",
        """{"o":{"a":1,"b":2,"c":3}}""",
        """{"o":{"a":1,"c":3,"xa":1,"xc":1}}"""
    )]
    [InlineData(
        "this.n = 0; this.l.sort((a, b) => { this.n++; return a - b })",
        """{"l":[1,2,3,4,5]}""",
        """{"l":[1,2,3,4,5],"n":4}"""
    )]
    [InlineData(
        "this.l.sort((a, b) => a.p - b.p)",
        """{"l":[{},{"p":2},{},{"p":1}]}""",
        """{"l":[{},{"p":2},{},{"p":1}]}"""
    )]
    [InlineData("this.a = `${1, 2}`", "{}", """{"a":"2"}""")]
    [InlineData(
        "this.l.forEach(x => { if (this.l.length < 6) this.l['2'] ??= 7 })",
        """{"l":[1,2]}""",
        """{"l":[1,2,7]}"""
    )]
    [InlineData(
        "this.l.forEach(x => { if (this.l.length < 6) this.l[this.l.length]++ })",
        """{"l":[1,2]}""",
        """{"l":[1,2,null,null]}"""
    )]
    public void A_script_changes_the_document(string script, string document, string result) =>
        Assert.Equal(result, Scripts.Patch(script, document));

    [Theory]
    [InlineData("throw new Error('')", "{}", "the script throws 'Error'")]
    [InlineData("throw new Error", "{}", "the script throws 'Error'")]
    [InlineData("throw new Error('a',)", "{}", "the script throws 'Error: a'")]
    [InlineData(
        "throw 'The order of customer ACME is shipped already and cannot be changed, says the éditor'",
        "{}",
        "cannot be changed, says the éditor'"
    )]
    [InlineData("throw 'é'.repeat(300)", "{}", "éé…'")]
    [InlineData("this.l.sort((a, b) => a - b)", "{}", "calls sort on an array that does not exist")]
    [InlineData("this.l.sort((a, b) => a - b)", """{"l":5}""", "calls sort on a value that is no array")]
    [InlineData("this.a = 'b' in this.n", """{"n":5}""", "'in' for a member of a value that is no object")]
    [InlineData(
        "if (this.n < 1) throw new Error(`n is ${this.n}`)",
        """{"n":0}""",
        "the script throws 'Error: n is 0'"
    )]
    [InlineData("throw this.reason", """{"reason":"sold out"}""", "the script throws 'sold out'")]
    [InlineData("while (true) { }", "{}", "steps")]
    [InlineData("for (;;) this.n++", """{"n":0}""", "steps")]
    [InlineData("do this.l.push(this.l.length); while (true)", """{"l":[]}""", "steps")]
    public void A_script_fails_with_the_reason(string script, string document, string reason)
    {
        string result = Scripts.Patch(script, document);
        Assert.StartsWith("failed: ", result, StringComparison.Ordinal);
        Assert.Contains(reason, result, StringComparison.Ordinal);
    }
}
