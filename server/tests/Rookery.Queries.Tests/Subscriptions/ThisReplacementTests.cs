using Rookery.Queries.Subscriptions;

namespace Rookery.Queries.Tests.Subscriptions;

/// <summary>The keyword <c>this</c> of a function that is called as <c>f.call(o)</c>.</summary>
public sealed class ThisReplacementTests
{
    [Theory]
    [InlineData("return this.a > 1", "return _th_.a > 1")]
    [InlineData("this", "_th_")]
    [InlineData("x.this + thisOne + $this", "x.this + thisOne + $this")]
    [InlineData("'this' + \"it\\\"s this\" + `this`", "'this' + \"it\\\"s this\" + `this`")]
    [InlineData("// this\nthis /* this */ (this)", "// this\n_th_ /* this */ (_th_)")]
    [InlineData(
        "`this ${this.a + `${this.b}`} \\${this} ${'this'}`",
        "`this ${_th_.a + `${_th_.b}`} \\${this} ${'this'}`"
    )]
    [InlineData("/this['\"`]/.test(this.a)", "/this['\"`]/.test(_th_.a)")]
    [InlineData("this.a / 2 + this.b / 2", "_th_.a / 2 + _th_.b / 2")]
    [InlineData("({ this: this, a: b ? this : c })", "({ this: _th_, a: b ? _th_ : c })")]
    [InlineData("x?.this", "x?.this")]
    [InlineData("'this", "'this")]
    [InlineData("/* this", "/* this")]
    [InlineData("", "")]
    public void Only_the_keyword_is_replaced(string script, string expected) =>
        Assert.Equal(expected, ThisReplacement.In(script));
}
