using System.Text.Json;
using Rookery.Data;
using Rookery.Indexes;
using Rookery.Terminal;

namespace Rookery.Server.Tests.CommandLine;

/// <summary>What the tables of `rookery query` and `rookery index ls` show.</summary>
public sealed class ShownTablesTests
{
    [Fact]
    public void Facets_have_a_row_for_each_value() =>
        Assert.Equal(
            """
            Name   Range             Count  Of     Sum  Min
            brand  b0                    1  price    2    2
            brand  b1                    2  price    4    1
            brand  (3 other values)      7
            price  (no value)            0
            """,
            Show(
                """
                [{"Name":"brand","Values":[{"Name":"price","Range":"b0","Count":1,"Sum":2,"Min":2},
                  {"Name":"price","Range":"b1","Count":2,"Sum":4,"Min":1}],
                  "RemainingHits":7,"RemainingTermsCount":3,"RemainingTerms":[]},
                 {"Name":"price","Values":[],"RemainingHits":0,"RemainingTermsCount":0,"RemainingTerms":[]}]
                """
            )
        );

    [Fact]
    public void Suggestions_have_a_row_for_each_word() =>
        Assert.Equal(
            """
            Name   Suggestion
            name   anna
            name   anne
            other  (none)
            """,
            Show("""[{"Name":"name","Suggestions":["anna","anne"]},{"Name":"other","Suggestions":[]}]""")
        );

    [Fact]
    public void A_document_with_members_of_facets_is_shown_as_a_document() =>
        Assert.Equal(
            """
            ID   Name  Values
            a/1  n     [1]
            """,
            Show("""[{"Name":"n","Values":[1],"@metadata":{"@id":"a/1"}}]""")
        );

    [Theory]
    [InlineData("Running", true, 0, "behind", "its newest entries are not written yet")]
    [InlineData("Running", true, 5, "behind", "7 s left")]
    [InlineData("Running", false, 0, "up to date", "")]
    [InlineData("Paused", true, 0, "Paused", "")]
    public void An_index_that_is_behind_with_nothing_left_to_read_says_why(
        string status,
        bool isStale,
        int left,
        string state,
        string note
    )
    {
        // The statistics were read before the progress, and say the opposite of it. The progress must win.
        var statistics = Parse(
            $$"""{"State":"Normal","Status":"{{status}}","IsStale":{{(isStale ? "false" : "true")}}}"""
        );
        var progress = Parse(
            $$"""
            {"IsStale":{{(isStale ? "true" : "false")}},"IndexRunningStatus":"{{status}}","SecondsLeft":7,
            "Collections":{"C":{"NumberOfItemsToProcess":{{left}} } } }
            """
        );
        Assert.Equal((state, note), (IndexCommand.StateOf(statistics, progress), IndexCommand.NoteOf(progress)));
    }

    [Fact]
    public void Letters_of_two_cells_keep_the_columns_aligned_and_are_never_cut_in_half()
    {
        Assert.Equal(
            "City  Total\n東京      1\nBonn      2",
            Show("""[{"City":"東京","Total":1},{"City":"Bonn","Total":2}]""")
        );
        Assert.Equal(["…", "東…", "東京"], new[] { 2, 3, 4 }.Select(static width => Table.Cut("東京", width)));
        Assert.Equal("東…", Table.Cut("東京大学", 4));
    }

    [Fact]
    public void Nested_values_show_letters_instead_of_their_escapes() =>
        Assert.Equal(
            "ShipTo\n{\"City\":\"東京\",\"Tags\":[\"<é>\"]}",
            Show("""[{"ShipTo":{"City":"\u6771\u4eac", "Tags":["<\u00e9>"]}}]""")
        );

    private static string Show(string results) =>
        string.Join(
            '\n',
            ResultTable.Of([.. Parse(results).EnumerateArray()]).Lines(null, new Paint(isOn: false)).Select(Trim)
        );

    private static string Trim(string line) => line.TrimEnd();

    private static JsonElement Parse(string json)
    {
        using var document = JsonDocument.Parse(json);
        return document.RootElement.Clone();
    }
}
