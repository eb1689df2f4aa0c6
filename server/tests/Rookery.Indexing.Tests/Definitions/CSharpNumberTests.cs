using System.Runtime.CompilerServices;
using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Tests.Definitions;

/// <summary>
/// A number in an index text has the value and type that the C# compiler gives it. Each case is C# code whose source is
/// also the index text. The results of calculations with a number show its type.
/// </summary>
public sealed class CSharpNumberTests
{
    // The numbers are written as the compiler accepts them, even where style rules demand another form.
#pragma warning disable CS0078, S1764, S2437, RCS1032, IDE0047, IDE0004, IDE0049, S3458, S1905
    private static readonly Case[] Constants =
    [
        new(_ => 0 * long.MaxValue),
        new(_ => 0 * -2147483649),
        new(_ => 2147483648L - 1),
        new(_ => long.MaxValue - 9223372036854775800),
        new(_ => -2147483649 + 4294967296),
        new(_ => -2147483648),
        new(_ => -(2147483648)),
        new(_ => -2147483648L),
        new(_ => -2147483648 + 1),
        new(_ => -9223372036854775808),
        new(_ => -9223372036854775808L + 7),
        new(_ => int.MinValue + 1),
        new(_ => 10L * 3),
        new(_ => 5l),
        new(_ => -5L),
        new(_ => 2 - 10L),
        new(_ => 0b1011),
        new(_ => 0x7FFFFFFF),
        new(_ => -0.0),
        new(_ => -1.5f),
        new(_ => 16777217f),
        new(_ => 1.000000059604644775390626f),
        new(_ => 1.50e1m),
        new(_ => 1e3m),
        new(_ => -1.50m),
        new(_ => 'a' + 1),
        new(_ => 'a' + 'b'),
        new(_ => -'a'),
        new(_ => +'a'),
        new(_ => 'a' * 2L),
        new(_ => 'a' * 0.5f),
        new(_ => 'b' - 'a' - 2147483647),
        new(_ => (int)'a'),
        new(_ => (int)'-'),
        new(_ => (int)"?"[0]),
        new(_ => (long)"is".Length),
        new(_ => (long)5),
        new(_ => (int)2.9),
        new(_ => (int)-2.9),
        new(_ => (long)1e15),
        new(_ => (long)'a' * 2147483647),
        new(o => o.S[0] + 1),
        new(o => o.S[0] * o.S[1]),
    ];
#pragma warning restore

    private static Case[] All => [.. Constants];

    public static TheoryData<string> Expressions => new([.. All.Select(static one => one.Text)]);

    [Theory]
    [MemberData(nameof(Expressions))]
    public void A_number_has_the_value_and_the_type_of_the_compiler(string text)
    {
        var known = All.First(one => string.Equals(one.Text, text, StringComparison.Ordinal));
        dynamic value = known.Value(new CSharpOrder());
        string expected = CSharpJson.Of(
            new
            {
                value = Text(value),
                third = Text((value - value + 1) / 3),
                twice = Text(unchecked((value - value + 2000000000) * 2)),
            }
        );
        string expression = text[(text.IndexOf("=>", StringComparison.Ordinal) + "=>".Length)..];
        string row = DefinitionExample.Map(
            $"from o in docs.Orders let x = {expression} select new {{ value = \"\" + x, "
                + "third = \"\" + (x - x + 1) / 3, twice = \"\" + (x - x + 2000000000) * 2 }",
            CSharpOrder.Document,
            "orders/1"
        );
        Assert.Equal(expected, row);
    }

    [Theory]
    [InlineData("2147483647 + 1")]
    [InlineData("-(-2147483648)")]
    [InlineData("-int.MinValue")]
    [InlineData("int.MaxValue * 'a'")]
    [InlineData("long.MaxValue + 1")]
    [InlineData("long.MaxValue * 10L")]
    [InlineData("-long.MinValue")]
    [InlineData("9223372036854775808")]
    [InlineData("-(9223372036854775808)")]
    [InlineData("(int)4294967296")]
    [InlineData("(int)1e10")]
    [InlineData("(long)1e19")]
    [InlineData("1e400")]
    [InlineData("1e40f")]
    [InlineData("1e30m")]
    public void A_number_that_the_compiler_refuses_is_refused(string expression) =>
        Assert.Contains(
            "as large as|larger than".Split('|'),
            part =>
                Assert
                    .Throws<ScriptException>(() =>
                        DefinitionExample.Map($"docs.Orders.Select(o => new {{ v = {expression} }})", "{}")
                    )
                    .Message.Contains(part, StringComparison.Ordinal)
        );

    private static string Text(object value) => FormattableString.Invariant($"{value}");

    private sealed record Case(
        Func<CSharpOrder, object> Value,
        [CallerArgumentExpression(nameof(Value))] string Text = ""
    );
}
