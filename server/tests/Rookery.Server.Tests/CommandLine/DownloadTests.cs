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

/// <summary>What a command fetches from a node, or brings there.</summary>
public sealed class DownloadTests
{
    private const string CountAnswer =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 22\r\n\r\n{\"CountOfDocuments\":2}";

    // It goes on.
    private const string ExportAnswer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{}\n\r\n";

    [Theory]
    [InlineData("\"rookery-debug-pi-1-20261125-120000.tar.gz\"", "rookery-debug-pi-1-20261125-120000.tar.gz")]
    [InlineData("rookery-debug-x.tar.gz", "rookery-debug-x.tar.gz")]
    [InlineData(null, "rookery-debug.tar.gz")]
    [InlineData(".bashrc", "rookery-debug.tar.gz")]
    [InlineData("rookery-debug-x.sh", "rookery-debug.tar.gz")]
    [InlineData("other-rookery-debug-x.tar.gz", "rookery-debug.tar.gz")]
    [InlineData("rookery-debug-/../../x.tar.gz", "rookery-debug.tar.gz")]
    [InlineData("rookery-debug-\u001b[2J.tar.gz", "rookery-debug.tar.gz")]
    public void A_debug_package_has_a_name_of_ours_whatever_the_node_says(string? told, string name) =>
        Assert.Equal(name, DebugPackageCommand.NameOf(told));

    [Fact]
    public void An_export_is_for_its_owners_eyes_and_follows_no_link_that_waits_for_it()
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
    public async Task An_export_to_a_directory_is_refused_before_anything_is_asked(bool replaces)
    {
        string directory = Directory.CreateTempSubdirectory("rookery-export-").FullName;
        try
        {
            // Nobody listens there: a question would end with another sentence.
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
    [InlineData(false, "There is ")]
    [InlineData(true, " is a directory. ")]
    public async Task An_export_whose_name_was_taken_meanwhile_says_where_it_lies(bool replaces, string said)
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
            Assert.Contains(said, refused.Message, StringComparison.Ordinal);
            Assert.Contains($"All that was exported lies in {path}.part:", refused.Message, StringComparison.Ordinal);
            Assert.Equal("{}\n", await File.ReadAllTextAsync(path + ".part"));
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
    }

    [Fact]
    public async Task An_export_that_ends_well_with_fewer_documents_than_the_node_said_takes_no_files_place()
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
            Assert.Contains("1 document came, and the node had said 2", refused.Message, StringComparison.Ordinal);
            Assert.Equal("yesterday's", await File.ReadAllTextAsync(path));
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
    }

    [Fact]
    public async Task A_part_of_an_import_that_nobody_answers_is_sent_again()
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

        // Slowly: the next attempt has two minutes of this clock to connect, which may take a busy machine long.
        var accepting = listener.AcceptTcpClientAsync();
        while (!accepting.IsCompleted && !sending.IsCompleted)
        {
            time.Advance(TimeSpan.FromMilliseconds(10));
            await Task.Delay(2);
        }

        Assert.False(sending.IsCompleted, "it gave up");
        using var answering = await accepting;
        const string Result = "{\"Result\":{\"Stored\":1,\"Bad\":0}}\n";
        await answering
            .GetStream()
            .WriteAsync(Encoding.ASCII.GetBytes($"HTTP/1.1 200 OK\r\nContent-Length: {Result.Length}\r\n\r\n{Result}"));
        Assert.Equal(1, (await sending).Stored);
    }

    [Fact]
    public async Task An_import_says_within_seconds_what_it_waits_for()
    {
        var time = new SimulatedTimeProvider();
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        var address = new Uri($"http://{listener.LocalEndpoint}");
        using var client = new NodeClient(new NodeConnection(address, Token: null, Authorities: null));
        var told = new List<string>();
        var sending = new ImportUpload(client, "Shop", time, told.Add).SendAsync("{}\n"u8.ToArray());
        using var silent = await listener.AcceptTcpClientAsync();
        time.Advance(TimeSpan.FromSeconds(9));
        Assert.Empty(told);
        time.Advance(TimeSpan.FromSeconds(1));
        Assert.StartsWith(
            $"The node at {address} has not answered for 10 s. The import goes on trying",
            Assert.Single(told),
            StringComparison.Ordinal
        );
        Assert.False(sending.IsCompleted);
    }

    [Theory]
    [InlineData("Takes-No-Part: true\r\n", true)]
    [InlineData("", false)]
    public async Task An_import_ends_at_a_node_that_is_no_member_any_more(string header, bool isFinal)
    {
        var time = new SimulatedTimeProvider();
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        using var client = new NodeClient(
            new NodeConnection(new Uri($"http://{listener.LocalEndpoint}"), Token: null, Authorities: null)
        );
        var sending = new ImportUpload(client, "Shop", time).SendAsync("{}\n"u8.ToArray());
        const string Said = "This node is no member of its cluster any more. Stop it.";
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

        // Any other refusal of that status passes.
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
    public async Task Where_no_machine_answers_a_command_says_so_before_the_system_gives_up()
    {
        // What comes behind a full queue is dropped without a word.
        using var listener = new Socket(SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen(0);
        using var filling = new Socket(SocketType.Stream, ProtocolType.Tcp);
        await filling.ConnectAsync(listener.LocalEndPoint!);
        var node = new NodeConnection(new Uri($"http://{listener.LocalEndPoint}"), Token: null, Authorities: null)
        {
            ConnectPatience = TimeSpan.FromMilliseconds(200),
        };
        using var client = new NodeClient(node);
        var refused = await Assert.ThrowsAsync<AdminException>(() => client.GetJsonAsync(HttpMethod.Get, "/livez"));
        Assert.Contains("No node answers at", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_import_goes_on_with_another_of_the_nodes_that_were_named()
    {
        using var first = new TcpListener(IPAddress.Loopback, 0);
        using var second = new TcpListener(IPAddress.Loopback, 0);
        first.Start();
        second.Start();
        NodeConnection[] named =
        [
            .. new[] { first, second }.Select(static one => new NodeConnection(
                new Uri($"http://{one.LocalEndpoint}"),
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

    /// <summary>Answers whatever is asked as an import that stored one document.</summary>
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
    public async Task What_an_archive_says_to_a_terminal_is_shown_and_not_done()
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
        string said = Encoding.UTF8.GetString(output.ToArray());
        Assert.StartsWith(Shown, said, StringComparison.Ordinal);
        Assert.EndsWith("  log\\u001b[31m.txt\n", said, StringComparison.Ordinal);
        Assert.DoesNotContain('\u001b', said);
    }

    [Theory]
    [InlineData("", 0, "(nothing came within 60 s)")]
    [InlineData("HTTP/1.1 200 OK\r\n", 0, "(nothing came within 60 s)")]
    [InlineData(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000000\r\n\r\n{\"Ready\":",
        64,
        "began to answer, and did not end within 60 s: it hangs, or its disk does"
    )]
    public async Task A_question_to_a_node_that_hangs_ends_with_a_sentence_that_says_where(
        string said,
        int megabytesBehind,
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
        await node.GetStream().WriteAsync(Encoding.ASCII.GetBytes(said));

        // More than the connection holds: when all is sent, the beginning of the answer was read.
        byte[] blanks = new byte[1 << 20];
        blanks.AsSpan().Fill((byte)' ');
        for (int sent = 0; sent < megabytesBehind; sent++)
        {
            await node.GetStream().WriteAsync(blanks);
        }

        for (int tries = 0; !asking.IsCompleted; tries++)
        {
            Assert.True(tries < 3000, "it waits for ever");
            time.Advance(TimeSpan.FromSeconds(1));
            await Task.Delay(5);
        }

        var refused = await Assert.ThrowsAsync<AdminException>(() => asking);
        Assert.Contains(sentence, refused.Message, StringComparison.Ordinal);
        Assert.Equal(ExitCode.Failure, refused.Code);
    }

    [Fact]
    public async Task The_quick_way_gives_a_node_that_hangs_in_the_middle_one_while_for_all_of_its_answer()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        var asking = Task.Run(() =>
            PlainQuestion.Ask(
                0x7f000001,
                (ushort)((IPEndPoint)listener.LocalEndpoint).Port,
                "GET / HTTP/1.0\r\n\r\n"u8,
                TimeSpan.FromMilliseconds(300),
                out _
            )
        );
        using var node = await listener.AcceptTcpClientAsync();

        // A byte comes long before each read would have ended, and the whole after the time: who took each read for
        // itself would have got it all.
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
            // It has hung up, as it should.
        }

        Assert.Null(await asking);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(2)]
    public async Task An_export_from_a_node_that_hangs_ends_with_a_sentence(int answers)
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
            foreach (string answer in ((string[])[CountAnswer, ExportAnswer]).Take(answers))
            {
                Assert.True(await node.GetStream().ReadAsync(request) > 0);
                await node.GetStream().WriteAsync(Encoding.ASCII.GetBytes(answer));
            }

            for (int tries = 0; !exporting.IsCompleted; tries++)
            {
                Assert.True(tries < 3000, "it waits for ever");
                time.Advance(TimeSpan.FromSeconds(1));
                await Task.Delay(5);
            }

            var refused = await Assert.ThrowsAsync<AdminException>(() => exporting);
            Assert.Equal(ExitCode.Failure, refused.Code);
            Assert.Contains("sent nothing for 120 s", refused.Message, StringComparison.Ordinal);
            Assert.False(File.Exists(Path.Join(directory, "out.ndjson")));
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
    }
}
