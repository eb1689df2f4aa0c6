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
    [InlineData("'this", "'this")]
    [InlineData("/* this", "/* this")]
    [InlineData("", "")]
    public void Only_the_keyword_is_replaced(string script, string expected) =>
        Assert.Equal(expected, ThisReplacement.In(script));
}
