using System.Net;
using Rookery.Hosting;

namespace Rookery.Server.Tests.CommandLine;

/// <summary>The exit codes of commands that a node refuses: the table of docs/reference/command-line.md.</summary>
public sealed class ExitCodeTests
{
    /// <summary>
    /// Commands for documents, databases and indexes: at status 409 or 412 they end with code 75. Blanks separate
    /// arguments; a bracket stands for a blank within an argument.
    /// </summary>
    public static TheoryData<string> OfData =>
        [
            "db ls",
            "db create x",
            "db rm x --yes x",
            "get x a",
            "rm x --prefix a --yes",
            "query x from[X] --table",
            "query x from[X] --ndjson",
            "query x from[X] --explain",
            "patch x from[X][update[{[this.a=1[}] --yes",
            "export x",
            "import x -",
            "index ls x",
            "index show x A",
            "index rm x A",
            "index reset x A",
            "index pause x",
            "index disable x A",
            "index errors x",
            "index wait x",
            "io",
            "logs",
        ];

    /// <summary>Commands for the node and its cluster.</summary>
    public static TheoryData<string> OfNode =>
        [
            "token ls",
            "token create x --scope read",
            "token rm x",
            "token reset",
            "cert ls",
            "cert rm x",
            "claim --code x",
            "alerts test",
            "debug-package",
            "cluster token create",
            "cluster node ls",
            "cluster node promote x",
            "cluster node transfer x",
            "cluster ca show",
            "cluster finalize-upgrade",
        ];

    [Theory]
    [MemberData(nameof(OfData))]
    public Task A_refused_command_for_data_ends_with_the_documented_code(string command) =>
        AssertExitCodesAsync(command, ExitCode.Conflict);

    [Theory]
    [MemberData(nameof(OfNode))]
    public Task A_refused_command_for_the_node_ends_with_the_documented_code(string command) =>
        AssertExitCodesAsync(command, ExitCode.Failure);

    [Fact]
    public void The_exit_codes_equal_the_documented_table()
    {
        var rows = File.ReadLines(Path.Join(Repository.Root, "docs/reference/command-line.md"))
            .Where(static line => line.Length > 2 && line[0] is '|' && char.IsAsciiDigit(line[2]))
            .Select(static line => int.Parse(line.Split('|')[1], System.Globalization.CultureInfo.InvariantCulture));

        // Except 134 (SIGABRT), with which the runtime ends the process after a bug.
        Assert.Equal(
            typeof(ExitCode).GetFields().Select(static field => (int)field.GetRawConstantValue()!).Order(),
            rows.Except([134]).Order()
        );
    }

    // Runs a command once for each status with which a node may refuse it.
    private static async Task AssertExitCodesAsync(string command, int conflict)
    {
        string[] words = [.. command.Split(' ').Select(static word => word.Replace('[', ' ').Replace(']', ' ').Trim())];
        foreach (
            var (status, expected) in ((HttpStatusCode Status, int Code)[])
                [
                    (HttpStatusCode.BadRequest, ExitCode.Configuration),
                    (HttpStatusCode.Forbidden, ExitCode.Failure),
                    (HttpStatusCode.NotFound, ExitCode.NotFound),
                    (HttpStatusCode.Conflict, conflict),
                    (HttpStatusCode.RequestEntityTooLarge, ExitCode.Configuration),
                    (HttpStatusCode.InternalServerError, ExitCode.Failure),
                    (HttpStatusCode.NotImplemented, ExitCode.Configuration),
                    (HttpStatusCode.ServiceUnavailable, ExitCode.Failure),
                ]
        )
        {
            const string body = """{"Message":"No."}""";
            await using var node = new OtherProgram(
                $"HTTP/1.1 {(int)status} X\r\nContent-Type: application/json\r\nConnection: close\r\n"
                    + $"Content-Length: {body.Length}\r\n\r\n{body}"
            );
            int code = await Rookery.CommandLine.RunAsync([.. words, "--url", node.Url], TextWriter.Null);
            Assert.True(code == expected, $"`{command}` ended with {code}, not {expected}, at status {(int)status}");
        }
    }
}
