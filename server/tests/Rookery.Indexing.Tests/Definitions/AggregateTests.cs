namespace Rookery.Indexing.Tests.Definitions;

/// <summary>
/// <c>Aggregate</c> with a first value. RavenDB runs index texts with dynamic values, so an accumulator that begins
/// with an integer may become the number of a document.
/// </summary>
public sealed class AggregateTests
{
    [Theory]
    [InlineData("o.Lines.Aggregate(0, (s, l) => s + l.Price)", "12.75")]
    [InlineData("o.Lines.Aggregate(0L, (s, l) => s + l.Price)", "12.75")]
    [InlineData("o.Lines.Aggregate(0, (s, l) => s + l.Price * l.Quantity)", "9.0")]
    [InlineData("o.Lines.Aggregate(0, (s, l) => l.Price > 2 ? l.Price : s)", "9.25")]
    [InlineData("o.Reals.Aggregate(1, (s, r) => r)", "4.0")]
    [InlineData("o.Lines.Aggregate(0, (s, l) => s + l.Price) / 2", "6.375")]
    [InlineData("new[] { o.Lines.Aggregate(0, (s, l) => s + l.Price), 2.5 }.Max()", "12.75")]
    [InlineData("o.Lines.Aggregate(0, (s, l) => s + l.Quantity)", "5")]
    [InlineData("o.Lines.Aggregate(0m, (s, l) => s + l.Quantity) / 2", "2.5")]
    [InlineData("new[] { 1, 2 }.Aggregate(0.0, (s, n) => n) / 4", "0.5")]
    public void An_accumulator_may_become_a_number_of_a_document_whatever_it_begins_with(
        string expression,
        string value
    ) =>
        Assert.Equal(
            $$"""{"v":{{value}}}""",
            DefinitionExample.Map(
                $"docs.Orders.Select(o => new {{ v = {expression} }})",
                CSharpOrder.Document,
                "orders/1"
            )
        );
}
