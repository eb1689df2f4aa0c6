using System.Formats.Tar;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Rookery.Access;
using Rookery.Hosting;
using Rookery.Simulation;
using Rookery.Support;
using Rookery.Transfer;

namespace Rookery.Server.Tests.CommandLine;

/// <summary>Downloads and uploads of commands.</summary>
public sealed class DownloadTests
{
    private const string CountAnswer =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 22\r\n\r\n{\"CountOfDocuments\":2}";

    // The answer does not end here.
    private const string ExportAnswer =
        "HTTP/1.1 200 OK\r\nRaven-Server-Version: 7.2.0.0\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{}\n\r\n";

    [Theory]
    [InlineData("\"rookery-debug-pi-1-20261125-120000.tar.gz\"", "rookery-debug-pi-1-20261125-120000.tar.gz")]
    [InlineData("rookery-debug-x.tar.gz", "rookery-debug-x.tar.gz")]
    [InlineData(null, "rookery-debug.tar.gz")]
    [InlineData(".bashrc", "rookery-debug.tar.gz")]
    [InlineData("rookery-debug-x.sh", "rookery-debug.tar.gz")]
    [InlineData("other-rookery-debug-x.tar.gz", "rookery-debug.tar.gz")]
    [InlineData("rookery-debug-/../../x.tar.gz", "rookery-debug.tar.gz")]
    [InlineData("rookery-debug-\u001b[2J.tar.gz", "rookery-debug.tar.gz")]
    public void A_debug_package_gets_a_safe_name_whatever_the_node_sends(string? sent, string name) =>
        Assert.Equal(name, DebugPackageCommand.NameOf(sent));

    [Fact]
    public void An_export_is_private_and_follows_no_planted_link()
    {
        string directory = Directory.CreateTempSubdirectory("rookery-export-").FullName;
        try
        {
            string other = Path.Join(directory, "other");
            string part = Path.Join(directory, "out.part");
            File.WriteAllText(other, "mine");
            File.CreateSymbolicLink(part, other);
            using (var file = ExportDownload.OpenPart(part))
            {
                file.Write("{}"u8);
            }

            Assert.Equal("mine", File.ReadAllText(other));
            Assert.Null(new FileInfo(part).LinkTarget);
            Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, new FileInfo(part).UnixFileMode);
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task An_export_to_a_directory_is_refused_before_any_request(bool replaces)
    {
        string directory = Directory.CreateTempSubdirectory("rookery-export-").FullName;
        try
        {
            // Nothing listens there: a request would fail with another message.
            using var client = new NodeClient(
                new NodeConnection(new Uri("http://127.0.0.1:1"), Token: null, Authorities: null)
            );
            var refused = await Assert.ThrowsAsync<AdminException>(() =>
                ExportDownload.RunAsync(client, "Shop", directory, replaces, TimeProvider.System)
            );
            Assert.Equal($"{directory} is a directory. Name a file with --to.", refused.Message);
            Assert.Equal(ExitCode.Configuration, refused.Code);
            Assert.False(Path.Exists(directory + ".part"));
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
    }

    [Theory]
    [InlineData(false, " exists already.")]
    [InlineData(true, " is a directory. ")]
    public async Task An_export_whose_target_appeared_meanwhile_reports_where_the_partial_file_is(
        bool replaces,
        string printed
    )
    {
        string directory = Directory.CreateTempSubdirectory("rookery-export-").FullName;
        string path = Path.Join(directory, "out.ndjson");
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        using var client = new NodeClient(
            new NodeConnection(new Uri($"http://{listener.LocalEndpoint}"), Token: null, Authorities: null)
        );
        try
        {
            var exporting = ExportDownload.RunAsync(client, "Shop", path, replaces, TimeProvider.System);
            using var node = await listener.AcceptTcpClientAsync();
            foreach (string answer in (string[])[CountAnswer, ExportAnswer])
            {
                Assert.True(await node.GetStream().ReadAsync(new byte[4096]) > 0);
                await node.GetStream().WriteAsync(Encoding.ASCII.GetBytes(answer));
            }

            if (replaces)
            {
                Directory.CreateDirectory(path);
            }
            else
            {
                await File.WriteAllTextAsync(path, "somebody's");
            }

            await node.GetStream().WriteAsync("0\r\n\r\n"u8.ToArray());
            var refused = await Assert.ThrowsAsync<AdminException>(() => exporting);
            Assert.Equal(ExitCode.Configuration, refused.Code);
            Assert.Contains(printed, refused.Message, StringComparison.Ordinal);
            Assert.Contains($"The complete export is in {path}.part:", refused.Message, StringComparison.Ordinal);
            Assert.Equal("{}\n", await File.ReadAllTextAsync(path + ".part"));
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
    }

    [Fact]
    public async Task An_export_with_too_few_documents_replaces_no_file()
    {
        string directory = Directory.CreateTempSubdirectory("rookery-export-").FullName;
        string path = Path.Join(directory, "out.ndjson");
        await File.WriteAllTextAsync(path, "yesterday's");
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        using var client = new NodeClient(
            new NodeConnection(new Uri($"http://{listener.LocalEndpoint}"), Token: null, Authorities: null)
        );
        try
        {
            var exporting = ExportDownload.RunAsync(client, "Shop", path, replaces: true, TimeProvider.System);
            using var node = await listener.AcceptTcpClientAsync();
            foreach (
                string answer in (string[])
                    [
                        CountAnswer,
                        ExportAnswer.Replace("\r\n\r\n3", "\r\nRookery-Documents: 2\r\n\r\n3", StringComparison.Ordinal)
                            + "0\r\n\r\n",
                    ]
            )
            {
                Assert.True(await node.GetStream().ReadAsync(new byte[4096]) > 0);
                await node.GetStream().WriteAsync(Encoding.ASCII.GetBytes(answer));
            }

            var refused = await Assert.ThrowsAsync<AdminException>(() => exporting);
            Assert.Equal(ExitCode.Failure, refused.Code);
            Assert.Contains("received 1 document, but the node announced 2", refused.Message, StringComparison.Ordinal);
            Assert.Equal("yesterday's", await File.ReadAllTextAsync(path));
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
    }

    [Fact]
    public async Task An_unanswered_part_of_an_import_is_sent_again()
    {
        var time = new SimulatedTimeProvider();
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        using var client = new NodeClient(
            new NodeConnection(new Uri($"http://{listener.LocalEndpoint}"), Token: null, Authorities: null)
        );
        var sending = new ImportUpload(client, "Shop", time).SendAsync("{}\n"u8.ToArray());
        using var silent = await listener.AcceptTcpClientAsync();
        var givingUp = silent.GetStream().CopyToAsync(Stream.Null);
        while (!givingUp.IsCompleted)
        {
            time.Advance(TimeSpan.FromSeconds(1));
            await Task.Delay(2);
        }

        // The clock advances slowly: the next attempt has two minutes of it to connect, which a busy machine may need.
        var accepting = listener.AcceptTcpClientAsync();
        while (!accepting.IsCompleted && !sending.IsCompleted)
        {
            time.Advance(TimeSpan.FromMilliseconds(10));
            await Task.Delay(2);
        }

        Assert.False(sending.IsCompleted, "the import gave up");
        using var answering = await accepting;
        const string Result = "{\"Result\":{\"Stored\":1,\"Bad\":0}}\n";
        await answering
            .GetStream()
            .WriteAsync(Encoding.ASCII.GetBytes($"HTTP/1.1 200 OK\r\nContent-Length: {Result.Length}\r\n\r\n{Result}"));
        Assert.Equal(1, (await sending).Stored);
    }

    [Fact]
    public async Task A_stalled_import_reports_what_it_waits_for()
    {
        var time = new SimulatedTimeProvider();
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        var address = new Uri($"http://{listener.LocalEndpoint}");
        using var client = new NodeClient(new NodeConnection(address, Token: null, Authorities: null));
        var reports = new List<string>();
        var sending = new ImportUpload(client, "Shop", time, reports.Add).SendAsync("{}\n"u8.ToArray());
        using var silent = await listener.AcceptTcpClientAsync();
        time.Advance(TimeSpan.FromSeconds(9));
        Assert.Empty(reports);
        time.Advance(TimeSpan.FromSeconds(1));
        Assert.StartsWith(
            $"The node at {address} has not answered for 10 s. The import keeps trying",
            Assert.Single(reports),
            StringComparison.Ordinal
        );
        Assert.False(sending.IsCompleted);
    }

    [Theory]
    [InlineData("Takes-No-Part: true\r\n", true)]
    [InlineData("", false)]
    public async Task An_import_ends_when_its_node_was_removed_from_the_cluster(string header, bool isFinal)
    {
        var time = new SimulatedTimeProvider();
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        using var client = new NodeClient(
            new NodeConnection(new Uri($"http://{listener.LocalEndpoint}"), Token: null, Authorities: null)
        );
        var sending = new ImportUpload(client, "Shop", time).SendAsync("{}\n"u8.ToArray());
        const string Said = "This node is not a member of its cluster any more. Stop it.";
        string body = $$"""{"Message":"{{Said}}"}""";
        string answer =
            $"HTTP/1.1 503 Service Unavailable\r\n{header}Connection: close\r\nContent-Length: {body.Length}\r\n\r\n";
        using (var asking = await listener.AcceptTcpClientAsync())
        {
            Assert.NotEqual(0, await asking.GetStream().ReadAsync(new byte[4096]));
            await asking.GetStream().WriteAsync(Encoding.ASCII.GetBytes(answer + body));
        }

        if (isFinal)
        {
            var refused = await Assert.ThrowsAsync<ImportRefusedException>(() => sending);
            Assert.Equal((Said, ExitCode.Failure), (refused.Message, refused.Refusal.Code));
            return;
        }

        // Any other error with that status is temporary.
        var again = listener.AcceptTcpClientAsync();
        while (!again.IsCompleted)
        {
            Assert.False(sending.IsCompleted);
            time.Advance(TimeSpan.FromMilliseconds(10));
            await Task.Delay(2);
        }

        (await again).Dispose();
    }

    [Fact]
    public async Task A_command_reports_an_unreachable_machine_before_the_system_times_out()
    {
        // Connections beyond a full backlog are dropped silently.
        using var listener = new Socket(SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen(0);
        using var filling = new Socket(SocketType.Stream, ProtocolType.Tcp);
        await filling.ConnectAsync(listener.LocalEndPoint!);
        var node = new NodeConnection(new Uri($"http://{listener.LocalEndPoint}"), Token: null, Authorities: null)
        {
            ConnectTimeout = TimeSpan.FromMilliseconds(200),
        };
        using var client = new NodeClient(node);
        var refused = await Assert.ThrowsAsync<AdminException>(() => client.GetJsonAsync(HttpMethod.Get, "/livez"));
        Assert.Contains("No node answers at", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_import_continues_at_another_named_node()
    {
        using var first = new TcpListener(IPAddress.Loopback, 0);
        using var second = new TcpListener(IPAddress.Loopback, 0);
        first.Start();
        second.Start();
        NodeConnection[] named =
        [
            .. new[] { first, second }.Select(static node => new NodeConnection(
                new Uri($"http://{node.LocalEndpoint}"),
                Token: null,
                Authorities: null
            )),
        ];
        using var client = new NodeClient(named[0], named);
        var time = new SimulatedTimeProvider();
        var sending = new ImportUpload(client, "Shop", time).SendAsync("{}\n"u8.ToArray());
        (await first.AcceptTcpClientAsync()).Dispose();
        first.Stop();
        var answering = AnswerAsync(second, until: sending);
        while (!sending.IsCompleted)
        {
            time.Advance(TimeSpan.FromMilliseconds(10));
            await Task.Delay(2);
        }

        Assert.Equal(1, (await sending).Stored);
        Assert.Equal(named[1].Address, client.Address);
        await answering;
    }

    /// <summary>Answers every request as an import that stored one document.</summary>
    private static async Task AnswerAsync(TcpListener node, Task until)
    {
        const string Result = "{\"Result\":{\"Stored\":1,\"Bad\":0}}\n";
        byte[] question = new byte[4096];
        while (!until.IsCompleted)
        {
            var accepting = node.AcceptTcpClientAsync();
            if (await Task.WhenAny(accepting, until) == accepting)
            {
                using var asking = await accepting;
                Assert.NotEqual(0, await asking.GetStream().ReadAsync(question));
                await asking
                    .GetStream()
                    .WriteAsync(
                        Encoding.ASCII.GetBytes(
                            $"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {Result.Length}\r\n\r\n{Result}"
                        )
                    );
            }
        }
    }

    [Fact]
    public async Task Terminal_commands_in_an_archive_are_shown_not_executed()
    {
        const string Evil = "a\tb\u001b]0;owned\u0007\u001b[2J\r\u009b31m\u202eabc \ud83d\ude00 ü\n";
        const string Shown = "a\tb\\u001b]0;owned\\u0007\\u001b[2J\\u000d\\u009b31m\\u202eabc \ud83d\ude00 ü\n";
        using var archive = new MemoryStream();
        await using (var writer = new TarWriter(archive, leaveOpen: true))
        {
            foreach (string name in (string[])["README.txt", "log\u001b[31m.txt"])
            {
                await writer.WriteEntryAsync(
                    new PaxTarEntry(TarEntryType.RegularFile, "package/" + name)
                    {
                        DataStream = new MemoryStream(Encoding.UTF8.GetBytes(Evil)),
                    }
                );
            }
        }

        archive.Position = 0;
        using var output = new MemoryStream();
        await using var tar = new TarReader(archive);
        Assert.Equal(
            ExitCode.Success,
            await DebugPackageCommand.ShowAsync(tar, "x.tar.gz", part: null, output, CancellationToken.None)
        );
        string printed = Encoding.UTF8.GetString(output.ToArray());
        Assert.StartsWith(Shown, printed, StringComparison.Ordinal);
        Assert.EndsWith("  log\\u001b[31m.txt\n", printed, StringComparison.Ordinal);
        Assert.DoesNotContain('\u001b', printed);
    }

    [Fact]
    public async Task An_empty_file_of_an_archive_is_shown_as_nothing()
    {
        using var archive = new MemoryStream();
        await using (var writer = new TarWriter(archive, leaveOpen: true))
        {
            await writer.WriteEntryAsync(new PaxTarEntry(TarEntryType.RegularFile, "package/system/pressure-io.txt"));
        }

        archive.Position = 0;
        using var output = new MemoryStream();
        await using var tar = new TarReader(archive);
        Assert.Equal(
            ExitCode.Success,
            await DebugPackageCommand.ShowAsync(
                tar,
                "x.tar.gz",
                "system/pressure-io.txt",
                output,
                CancellationToken.None
            )
        );
        Assert.Equal(0, output.Length);
    }

    [Theory]
    [InlineData("", 0, "(nothing came within 60 s)")]
    [InlineData("HTTP/1.1 200 OK\r\n", 0, "(nothing came within 60 s)")]
    [InlineData(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000000\r\n\r\n{\"Ready\":",
        64,
        "began its response but did not complete it within 60 s: the node or its disk hangs"
    )]
    public async Task A_request_to_a_hanging_node_times_out_with_its_address(
        string answer,
        int blankMebibytesAfterIt,
        string sentence
    )
    {
        var time = new SimulatedTimeProvider();
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        using var client = new AdminClient(
            new NodeConnection(new Uri($"http://{listener.LocalEndpoint}"), Token: null, Authorities: null),
            time
        );
        var asking = client.SendAsync(HttpMethod.Get, "/readyz?verbose", acceptsUnready: true);
        using var node = await listener.AcceptTcpClientAsync();
        Assert.True(await node.GetStream().ReadAsync(new byte[4096]) > 0);
        await node.GetStream().WriteAsync(Encoding.ASCII.GetBytes(answer));

        // More than the connection buffers, so once all is sent the beginning of the answer was read.
        byte[] blanks = new byte[1 << 20];
        blanks.AsSpan().Fill((byte)' ');
        for (int sent = 0; sent < blankMebibytesAfterIt; sent++)
        {
            await node.GetStream().WriteAsync(blanks);
        }

        for (int tries = 0; !asking.IsCompleted; tries++)
        {
            Assert.True(tries < 3000, "the command still waits");
            time.Advance(TimeSpan.FromSeconds(1));
            await Task.Delay(5);
        }

        var refused = await Assert.ThrowsAsync<AdminException>(() => asking);
        Assert.Contains(sentence, refused.Message, StringComparison.Ordinal);
        Assert.Equal(ExitCode.Failure, refused.Code);
    }

    [Fact]
    public async Task A_plain_HTTP_request_times_out_if_the_node_hangs_within_its_answer()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        var asking = Task.Run(() =>
            PlainHttpRequest.Exchange(
                address: 0x7f000001,
                (ushort)((IPEndPoint)listener.LocalEndpoint).Port,
                "GET / HTTP/1.0\r\n\r\n"u8,
                TimeSpan.FromMilliseconds(300),
                out _
            )
        );
        using var node = await listener.AcceptTcpClientAsync();

        // A byte arrives long before each single read would time out, and the rest after the total time: a timeout for
        // each read would let the answer complete.
        try
        {
            for (int sent = 0; sent < 40; sent++)
            {
                await node.GetStream().WriteAsync("x"u8.ToArray());
                await Task.Delay(50);
            }

            node.Close();
        }
        catch (IOException)
        {
            // The client hung up, as it should.
        }

        Assert.Null(await asking);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(2)]
    public async Task An_export_from_a_hanging_node_times_out_with_a_message(int answersBeforeItHangs)
    {
        string directory = Directory.CreateTempSubdirectory("rookery-export-").FullName;
        var time = new SimulatedTimeProvider();
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        using var client = new NodeClient(
            new NodeConnection(new Uri($"http://{listener.LocalEndpoint}"), Token: null, Authorities: null)
        );
        try
        {
            var exporting = ExportDownload.RunAsync(
                client,
                "Shop",
                Path.Join(directory, "out.ndjson"),
                replaces: false,
                time
            );
            using var node = await listener.AcceptTcpClientAsync();
            byte[] request = new byte[4096];
            foreach (string answer in ((string[])[CountAnswer, ExportAnswer]).Take(answersBeforeItHangs))
            {
                Assert.True(await node.GetStream().ReadAsync(request) > 0);
                await node.GetStream().WriteAsync(Encoding.ASCII.GetBytes(answer));
            }

            for (int tries = 0; !exporting.IsCompleted; tries++)
            {
                Assert.True(tries < 3000, "the command still waits");
                time.Advance(TimeSpan.FromSeconds(1));
                await Task.Delay(5);
            }

            var refused = await Assert.ThrowsAsync<AdminException>(() => exporting);
            Assert.Equal(ExitCode.Failure, refused.Code);
            string reason = answersBeforeItHangs < 2 ? "did not begin its response within" : "sent nothing for";
            Assert.Contains($"{reason} 120 s", refused.Message, StringComparison.Ordinal);
            Assert.False(File.Exists(Path.Join(directory, "out.ndjson")));
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
    }
}
