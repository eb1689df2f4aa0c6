using System.Text.Json;
using Rookery.Server.Operations;

namespace Rookery.Server.Tests.CommandLine;

/// <summary>The lines and the exit code of <c>rookery status</c>.</summary>
public sealed class StatusWordsTests
{
    [Theory]
    [InlineData("null", "null", true, "Ready: documents are served.")]
    [InlineData("\"No leader is known here.\"", "null", false, "No leader is known here.")]
    [InlineData("null", "\"The clock jumped.\"", false, "Ready: documents are served.")]
    public void The_first_line_of_a_node_that_cannot_write_is_the_reason_and_a_doubted_time_is_not_well(
        string trouble,
        string doubt,
        bool isWell,
        string first
    )
    {
        var status = Status(trouble, doubt, """{"Tag":"A","Role":"leader","IsReachable":true}""");
        var lines = StatusWords.Describe(status);
        Assert.Equal(first, lines[0]);
        Assert.Single(lines, line => string.Equals(line, first, StringComparison.Ordinal));
        Assert.Equal(isWell, StatusWords.IsWell(status));
    }

    [Fact]
    public void A_voter_that_is_off_is_reported_with_what_follows_when_another_one_fails()
    {
        const string members = """
            {"Tag":"A","Role":"leader","IsReachable":true},{"Tag":"B","Role":"voter","IsReachable":false},
            {"Tag":"C","Role":"voter","IsReachable":true},{"Tag":"D","Role":"learner","IsReachable":false}
            """;
        Assert.Contains(
            "3 members vote, and 1 of them is off: when another is off, nothing is written.",
            StatusWords.Describe(Status("null", "null", members))
        );
    }

    private static JsonElement Status(string trouble, string doubt, string members)
    {
        using var json = JsonDocument.Parse(
            $$$"""
            {"Ready":true,"Reason":null,"Cluster":{"Trouble":{{{trouble}}},"Role":"Leader","Leader":"A","Term":3,
            "Clock":{"Doubt":{{{doubt}}}},"Members":[{{{members}}}]}}
            """
        );
        return json.RootElement.Clone();
    }
}
