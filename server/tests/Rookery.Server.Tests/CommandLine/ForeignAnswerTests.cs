using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Text.Json;
using Rookery.Access;
using Rookery.Bench;
using Rookery.Live;
using Rookery.Simulation;

namespace Rookery.Server.Tests.CommandLine;

/// <summary>Commands whose address belongs to another program instead of a node.</summary>
public sealed class ForeignAnswerTests
{
    private const string Headers = "Content-Type: application/json\r\nConnection: close\r\n";

    // Bodies that are not what the commands expect: not JSON, of other types, or not valid UTF-8.
    private static readonly string[] Answers =
    [
        "",
        "{}",
        "[]",
        "null",
        "\"x\"",
        "{\"Results\":7,\"Databases\":\"x\",\"Tokens\":{},\"Members\":true,\"CountOfDocuments\":\"x\",\"Lines\":1}",
        "{\"Results\":[{\"a\":\"\u00c0\"}],\"Message\":7}",
        "<html>",
    ];

    /// <summary>Arguments are separated by blanks. "[" stands for a blank inside an argument, and "]" at the end is
    /// ignored.</summary>
    public static TheoryData<string> Commands =>
        [
            "status",
            "db ls",
            "get x a",
            "rm x --prefix a --yes",
            "query x from[X] --table",
            "query x from[X] --explain",
            "export x",
            "index ls x",
            "index errors x",
            "io",
            "logs",
            "token ls",
            "cert ls",
            "cluster node ls",
            "cluster ca show",
        ];

    [Theory]
    [MemberData(nameof(Commands))]
    public async Task A_command_answered_by_another_program_does_not_crash(string command)
    {
        string[] words = [.. command.Split(' ').Select(static word => word.Replace('[', ' ').TrimEnd(']'))];
        foreach (string answer in Answers)
        {
            foreach (int status in (int[])[200, 500])
            {
                await using var other = new OtherProgram(
                    $"HTTP/1.1 {status} X\r\n{Headers}Content-Length: {Encoding.Latin1.GetByteCount(answer)}\r\n\r\n{answer}"
                );
                int code = await Rookery.CommandLine.RunAsync([.. words, "--url", other.Url], TextWriter.Null);
                Assert.True(code is 0 or 1, $"{command} ended with {code} at {status} {answer}");
            }
        }
    }

    [Theory]
    [InlineData("""{"Name":null}""")]
    [InlineData("""{"Name":"A"},{"Name":"A"}""")]
    [InlineData(
        """
            {"Name":"A","Type":"Map","State":"Normal","Status":"Running","IsStale":true,"EntriesCount":1,
            "ErrorsCount":0,"Trouble":null,"Collections":{"B":{"NumberOfItemsToProcess":1}},"SecondsLeft":1e300}
            """
    )]
    public async Task Values_that_no_node_sends_are_reported_as_such(string indexes)
    {
        string answer = $"{{\"Results\":[{indexes}]}}";
        await using var other = new OtherProgram(
            $"HTTP/1.1 200 OK\r\n{Headers}Content-Length: {answer.Length}\r\n\r\n{answer}"
        );
        Assert.Equal(1, await Rookery.CommandLine.RunAsync(["index", "ls", "x", "--url", other.Url], TextWriter.Null));
    }

    /// <summary>
    /// Formerly, the page of a router was taken for documents or for an empty result, and a broken connection for the
    /// end of the answer.
    /// </summary>
    [Theory]
    [InlineData("get x --prefix a")]
    [InlineData("query x from[X]")]
    [InlineData("export x")]
    [InlineData("debug-package --to [")]
    public async Task A_copied_answer_is_refused_unless_it_is_complete_and_from_a_node(string command)
    {
        // Neither header suffices: the first answer has its length but does not come from a node; the second comes from
        // a node and breaks off. A bracket alone stands for the file.
        string file = Path.GetTempFileName();
        string[] words =
        [
            .. command.Split(' ').Select(word => word is "[" ? file : word.Replace("[", " ").TrimEnd(']')),
        ];
        foreach (string head in (string[])["Content-Length: 28\r\n", "Raven-Server-Version: 7.2.0.0\r\n"])
        {
            await using var other = new OtherProgram(
                $"HTTP/1.1 200 OK\r\n{Headers}{head}\r\n{{\"CountOfDocuments\":0,\"a\":1}}"
            );
            Assert.Equal(1, await Rookery.CommandLine.RunAsync([.. words, "--url", other.Url], TextWriter.Null));
            Assert.Equal(0, new FileInfo(file).Length);
        }

        File.Delete(file);
    }

    /// <summary>Formerly, the process ended with SIGABRT.</summary>
    [Fact]
    public async Task A_load_counts_answers_that_break_off_as_failures()
    {
        await using var other = new OtherProgram($"HTTP/1.1 200 OK\r\n{Headers}Content-Length: 50\r\n\r\n{{}}");
        Assert.Equal(
            1,
            await Rookery.CommandLine.RunAsync(["bench", "--seconds", "1", "--url", other.Url], TextWriter.Null)
        );
    }

    [Theory]
    [InlineData("{\"Result\":{\"Stored\":9000,\"Bad\":0,\"Error\":\"The disk is full.\"}}")]
    [InlineData("{\"BadLine\":1,\"Reason\":\"No.\"}\n{\"Result\":{\"Stored\":9999,\"Bad\":1}}\n")]
    public void A_load_of_reads_does_not_begin_after_an_incomplete_preparation(string answer) =>
        Assert.StartsWith(
            "Only 9",
            Assert.Throws<AdminException>(() => BenchLoad.RequirePrepared(Encoding.UTF8.GetBytes(answer))).Message,
            StringComparison.Ordinal
        );

    [Fact]
    public async Task An_endless_answer_fails_at_a_bound()
    {
        // Four times as long as the bound of 1 MiB in this call.
        await using var other = new OtherProgram(
            $"HTTP/1.1 200 OK\r\n{Headers}\r\n{{\"Databases\":\"{new string('a', 4 << 20)}"
        );
        using var client = new HttpClient();
        using var answer = await client.GetAsync(other.Url, HttpCompletionOption.ResponseHeadersRead);
        var refused = await Assert.ThrowsAsync<AdminException>(() =>
            ForeignAnswer.ReadAsync(answer.Content, new Uri(other.Url), CancellationToken.None, 1 << 20)
        );
        Assert.Contains("longer than the 1 MiB", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_request_to_a_silent_program_fails_after_two_minutes()
    {
        using var silent = new TcpListener(IPAddress.Loopback, 0);
        silent.Start();
        var time = new SimulatedTimeProvider();
        var node = new NodeConnection(new Uri($"http://{silent.LocalEndpoint}"), Token: null, Authorities: null);
        using var client = new NodeClient(node, time: time);
        foreach (
            var waiting in new Task[]
            {
                client.GetJsonAsync(HttpMethod.Get, "/databases"),
                BackupDownload.BeginAsync(node, time, CancellationToken.None),
            }
        )
        {
            for (int minute = 0; minute < 3; minute++)
            {
                time.Advance(TimeSpan.FromMinutes(1));
            }

            var refused = await Assert.ThrowsAsync<AdminException>(() => waiting.WaitAsync(TimeSpan.FromMinutes(1)));
            Assert.Contains("did not begin its response within 120 s", refused.Message, StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task An_endless_state_fails_at_a_bound()
    {
        // The states of a node have at most 16 MiB.
        await using var other = new OtherProgram(
            $"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: {new string('a', 17 << 20)}"
        );
        using var client = new NodeClient(new NodeConnection(new Uri(other.Url), Token: null, Authorities: null));
        await Assert.ThrowsAsync<JsonException>(() =>
            new LiveFeed(client, TimeProvider.System).RunAsync((_, _) => { }, _ => { }, CancellationToken.None)
        );
    }

    [Theory]
    [InlineData(200, "", 1)]
    [InlineData(500, "Raven-Server-Version: 7.2.0.0\r\n", 1)]
    public async Task A_login_fails_at_an_address_without_a_node_that_accepts_it(
        int status,
        string header,
        int expected
    )
    {
        await using var other = new OtherProgram($"HTTP/1.1 {status} X\r\n{header}Content-Length: 2\r\n\r\n{{}}");
        Assert.Equal(expected, await Rookery.CommandLine.RunAsync(["login", other.Url], TextWriter.Null));
    }
}
