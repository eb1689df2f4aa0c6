namespace Rookery.Indexing.Tests.Definitions;

/// <summary>
/// An expression in an index text has the value that the C# compiler's program gives. Each case is C# code whose source
/// is also the index text.
/// </summary>
public sealed class CSharpValueTests
{
    private static CSharpCase[] All => [.. CSharpScalarCases.All, .. CSharpTextCases.All, .. CSharpSequenceCases.All];

    public static TheoryData<string> Expressions => new([.. All.Select(static one => one.Text)]);

    [Theory]
    [MemberData(nameof(Expressions))]
    public void An_expression_has_the_value_of_compiled_CSharp(string text)
    {
        var known = All.First(one => string.Equals(one.Text, text, StringComparison.Ordinal));
        object? value = known.Value(new CSharpOrder());
        string row = DefinitionExample.Map(
            $"docs.Orders.Select(o => new {{ v = {text["o => ".Length..]}, always = true }})",
            CSharpOrder.Document,
            "orders/1"
        );

        // Undefined members are omitted.
        Assert.Equal(
            CSharpJson.Of(value),
            row is "{\"always\":true}"
                ? "null"
                : row.Replace("{\"v\":", "", StringComparison.Ordinal)
                    .Replace(",\"always\":true}", "", StringComparison.Ordinal)
        );
    }
}
