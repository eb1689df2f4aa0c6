using System.CommandLine;
using System.Text;
using System.Text.Json;
using Rookery.Access;
using Rookery.Data;
using Rookery.Hosting;
using Rookery.Live;
using Rookery.Server.Access;
using Rookery.Server.Raven;
using Rookery.Terminal;
using Rookery.Transfer;

namespace Rookery.Server.Tests.CommandLine;

public sealed class CommandLineTests
{
    [Theory]
    [InlineData("899.6300000000001", "899.63")]
    [InlineData("0.30000000000000004", "0.3")]
    [InlineData("12.50", "12.50")]
    [InlineData("9007199254740993", "9007199254740993")]
    public void A_number_in_a_table_has_at_most_fifteen_digits(string written, string shown) =>
        Assert.Equal(shown, ResultTable.FormatNumber(written));

    [Theory]
    [InlineData("", " [command] [options]", "status")]
    [InlineData("cluster", "cluster [command] [options]", "join")]
    [InlineData("db", "db [command] [options]", "ls")]
    public async Task Help_is_printed_if_the_command_is_missing(string line, string usage, string subcommand)
    {
        using var error = new StringWriter();
        Assert.Equal(
            ExitCode.Configuration,
            await global::Rookery.CommandLine.RunAsync(line.Split(' ', StringSplitOptions.RemoveEmptyEntries), error)
        );
        Assert.Contains(usage, error.ToString(), StringComparison.Ordinal);
        Assert.Contains($"\n  {subcommand} ", error.ToString(), StringComparison.Ordinal);
        Assert.DoesNotContain("Required command", error.ToString(), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("help", "\"help\" is not a command or option here. Did you mean --help?")]
    [InlineData("staus", "\"staus\" is not a command or option here. Did you mean status?")]
    [InlineData("query", "DB is missing. See `rookery query --help`.")]
    [InlineData("query shop", "RQL is missing.")]
    [InlineData("index show .", "NAME is missing. See `rookery index show --help`.")]
    [InlineData("import --infer shop", "FILE is missing.")]
    [InlineData("backup", "Option '--to' is required.")]
    [InlineData("export shop --to ", "--to is empty")]
    [InlineData("export shop --to=", "Required argument missing for option: '--to'.")]
    [InlineData("import shop ", "FILE is empty")]
    [InlineData("get  users/1", "DB is empty")]
    [InlineData("export --data ", "--data is empty")]
    public async Task Missing_or_empty_arguments_are_named(string line, string sentence)
    {
        using var error = new StringWriter();
        Assert.Equal(ExitCode.Configuration, await global::Rookery.CommandLine.RunAsync(line.Split(' '), error));
        Assert.StartsWith(sentence, error.ToString(), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("db ls", "Name its address with --url, or its data directory with --data.")]
    [InlineData("db ls --url http://127.0.0.1:1", "Check the address of --url, and whether the node runs.")]
    [InlineData("export x", "Name its address with --url.")]
    [InlineData("export x --url http://127.0.0.1:1", "Check the address of --url, and whether the node runs.")]
    public void The_advice_if_no_node_answers_names_no_option_that_was_given(string line, string advice)
    {
        string[] words = line.Split(' ');
        var address = new NodeAddress(hasDataAndJson: words[0] is not "export");
        var parsed = address
            .AddTo(new Command("ask"))
            .Parse(words.SkipWhile(static word => word[0] is not '-').ToArray());
        var node = Assert.Single(address.ConnectAll(parsed));
        Assert.EndsWith($" (refused). {advice}", node.NoAnswer("refused"), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("--url", "http://127.0.0.1:1")]
    [InlineData("--token-file", "t")]
    [InlineData("--ca", "c")]
    public void An_option_that_the_local_access_would_ignore_is_refused(string option, string value)
    {
        var address = new NodeAddress();
        var parsed = address.AddTo(new Command("ask")).Parse(["--data", "/data", option, value]);
        Assert.Equal(
            $"--data finds the node by its directory, and {option} is for one that is found by its address. Leave one "
                + "of them out.",
            Assert.Throws<AdminException>(() => address.ConnectAll(parsed)).Message
        );
    }

    [Theory]
    [InlineData("127.0.0.1:8080", "http://127.0.0.1:8080/")]
    [InlineData("localhost:8080", "http://localhost:8080/")]
    [InlineData("[::1]:8080", "http://[::1]:8080/")]
    [InlineData("pi-1.local", "https://pi-1.local/")]
    [InlineData("192.168.1.11:8443", "https://192.168.1.11:8443/")]
    [InlineData("http://192.168.1.11:8080", "http://192.168.1.11:8080/")]
    public void An_address_without_a_scheme_is_one_of_http_on_this_machine_and_of_https_elsewhere(
        string named,
        string used
    )
    {
        var address = new NodeAddress();
        var parsed = address.AddTo(new Command("ask")).Parse(["--url", named]);
        Assert.Equal(used, Assert.Single(address.ConnectAll(parsed)).Address.ToString());
    }

    [Theory]
    [InlineData("pi-1.local/databases")]
    [InlineData("not an address")]
    [InlineData("ftp://pi-1.local")]
    public void An_address_that_no_scheme_completes_is_refused_as_it_was_given(string named)
    {
        var address = new NodeAddress();
        var parsed = address.AddTo(new Command("ask")).Parse(["--url", named]);
        Assert.StartsWith(
            $"\"{named}\" is not an address",
            Assert.Throws<AdminException>(() => address.ConnectAll(parsed)).Message,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void An_empty_token_file_is_refused()
    {
        var address = new NodeAddress();
        var parsed = address
            .AddTo(new Command("ask"))
            .Parse(["--url", "https://127.0.0.1:1", "--token-file", "/dev/null"]);
        Assert.StartsWith(
            "/dev/null holds no token",
            Assert.Throws<AdminException>(() => address.ConnectAll(parsed)).Message,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void The_refusal_of_a_sent_token_does_not_advise_to_name_a_token_file()
    {
        var node = new NodeConnection(new Uri("https://127.0.0.1:1"), "rookery_x", Authorities: null);
        Assert.Equal(
            "The token is not known. Use another token; an admin makes them.",
            NodeSentence.ForCommandUser(
                $"The token is not known. {AuthenticationHints.ForPrograms} an admin makes them.",
                node
            )
        );
    }

    [Theory]
    [InlineData(true, " on the node's machine --data needs none;")]
    [InlineData(false, "")]
    public void A_nodes_advice_for_programs_is_reworded_for_command_users(bool hasDataAndJson, string ofData)
    {
        var address = new NodeAddress(hasDataAndJson);
        var node = Assert.Single(
            address.ConnectAll(address.AddTo(new Command("ask")).Parse(["--url", "https://127.0.0.1:1"]))
        );
        string reworded = NodeSentence.ForCommandUser(
            $"No credential came with the request. {AuthenticationHints.ForPrograms} an admin makes them.",
            node
        );
        Assert.Equal(
            $"No credential came with the request. Name a file with a token by --token-file, or once by "
                + $"`rookery login`;{ofData} an admin makes them.",
            reworded
        );
        Assert.Equal(
            "Nobody leads. `rookery get --local` and `rookery query --local` print what this node has, which may be "
                + "older.",
            NodeSentence.ForCommandUser($"Nobody leads.{LocalReads.ForPrograms}", node)
        );
    }

    [Theory]
    [InlineData("127.0.0.1:8080", 0x7f000001u, 8080)]
    [InlineData("255.255.255.255:65535", 0xffffffffu, 65535)]
    [InlineData("0.0.0.0:1", 0u, 1)]
    [InlineData("127.0.0.1", null, 0)]
    [InlineData("127.0.0.1:0", null, 0)]
    [InlineData("127.0.0.1:65536", null, 0)]
    [InlineData("127.0.0.1:99999999999", null, 0)]
    [InlineData("256.0.0.1:80", null, 0)]
    [InlineData("127.0.0.01:80", null, 0)]
    [InlineData("127.0.1:80", null, 0)]
    [InlineData("1.2.3.4:80/x", null, 0)]
    [InlineData("1.2.3.4:8 0", null, 0)]
    [InlineData("-1.2.3.4:80", null, 0)]
    [InlineData("[::1]:80", null, 0)]
    [InlineData("localhost:80", null, 0)]
    [InlineData("", null, 0)]
    public void A_plain_HTTP_request_needs_a_numeric_address(string text, uint? address, int port) =>
        Assert.Equal(
            (address is not null, address ?? 0, port),
            PlainHttpRequest.TryReadAddress(text, out uint read, out ushort at) ? (true, read, at) : (false, 0u, 0)
        );

    [Theory]
    [InlineData("a=5", "a", "5")]
    [InlineData("$a=x=y", "a", "\"x=y\"")]
    [InlineData("a=[1,2]", "a", "[1,2]")]
    [InlineData("a=", "a", "\"\"")]
    [InlineData("a=say \"hi\"", "a", "\"say \\u0022hi\\u0022\"")]
    [InlineData("a=null", "a", "null")]
    public void A_parameter_value_that_parses_as_JSON_is_JSON_and_any_other_is_text(
        string option,
        string name,
        string json
    )
    {
        var (read, value) = AskedQuery.ReadParameter(option);
        Assert.Equal(name, read);
        Assert.Equal(json, value.GetRawText());
    }

    [Theory]
    [InlineData("=5")]
    [InlineData("x")]
    [InlineData("$=1")]
    public void A_parameter_needs_a_name(string option) =>
        Assert.Equal(
            ExitCode.Configuration,
            Assert.Throws<AdminException>(() => AskedQuery.ReadParameter(option)).Code
        );

    [Theory]
    [InlineData("""{"n":1}""", true)]
    [InlineData("""{"@metadata":{"@collection":"A"},"n":1}""", true)]
    [InlineData("""{"x":{"@metadata":{"@id":"inner"}}}""", true)]
    [InlineData("""{"@metadata":{"@id":"a/1"}}""", false)]
    [InlineData("""{"n":{"m":[1]},"@metadata":{"@collection":"A","@id":"a/1"}}""", false)]
    [InlineData("""[1]""", false)]
    [InlineData("""{"n":""", false)]
    [InlineData("""{"@metadata":7}""", false)]
    public void A_document_without_an_id_gets_the_same_id_each_time(string document, bool getsOne)
    {
        var json = Encoding.UTF8.GetBytes(document);
        string once = Encoding.UTF8.GetString(new RecordId("seed").Complete(json, number: 7, out _).Span);
        Assert.Equal(once, Encoding.UTF8.GetString(new RecordId("seed").Complete(json, 7, out _).Span));
        if (!getsOne)
        {
            Assert.Equal(document, once[..document.Length]);
            return;
        }

        using var completed = JsonDocument.Parse(once);
        string id = completed.RootElement.GetProperty("@metadata").GetProperty("@id").GetString()!;
        Assert.Equal(32, id.Length);
        Assert.DoesNotContain(
            id,
            Encoding.UTF8.GetString(new RecordId("seed").Complete(json, 8, out _).Span),
            StringComparison.Ordinal
        );
        Assert.DoesNotContain(
            id,
            Encoding.UTF8.GetString(new RecordId("other").Complete(json, 7, out _).Span),
            StringComparison.Ordinal
        );
    }

    [Theory]
    [InlineData("It is wrong (line 3, byte 7). Do so.", "It is wrong (byte 7). Do so.")]
    [InlineData("It is wrong (line 3). Do so.", "It is wrong. Do so.")]
    [InlineData("It is wrong ($.n, line 12, byte 7). Do so.", "It is wrong ($.n, byte 7). Do so.")]
    [InlineData("It is wrong ($.n, line 12). Do so.", "It is wrong ($.n). Do so.")]
    [InlineData("A line is wrong.", "A line is wrong.")]
    public void A_reason_is_shown_without_the_line_number_of_its_upload_part(string reason, string expected) =>
        Assert.Equal(expected, Import.WithoutLine(reason));

    [Fact]
    public void A_percentile_is_the_nearest_rank()
    {
        long[] hundred = [.. Enumerable.Range(1, 100).Select(static number => (long)number)];
        Assert.Equal(50, IoPage.Percentile(hundred, share: 0.5));
        Assert.Equal(99, IoPage.Percentile(hundred, share: 0.99));
        Assert.Equal(100, IoPage.Percentile(hundred, share: 1));
        Assert.Equal(1, IoPage.Percentile(hundred, share: 0));
        Assert.Equal(0, IoPage.Percentile(ordered: [], share: 0.5));
    }

    [Fact]
    public void A_timeline_has_a_bar_for_the_longest_sync_of_each_second()
    {
        IoEvent Sync(double atSecond, long duration) =>
            new("journal_sync", (long)(atSecond * 1_000_000) - duration, duration, 4096);
        Assert.Equal(
            "▁·▄█",
            IoPage.Timeline(
                [
                    Sync(100.5, 600),
                    Sync(102.1, 900),
                    Sync(102.9, 20_000),
                    Sync(103.9, 5_000_000),
                    Sync(99, 1),
                    Sync(104, 1),
                ],
                fromSecond: 100,
                seconds: 4
            )
        );
    }

    [Fact]
    public void A_table_shrinks_its_widest_column()
    {
        var table = new Table("ID", ">N", "TEXT");
        table.Add("a/1", "7", new string('x', 100) + "\u001b[2J");
        string[] lines = [.. table.Lines(30, new Paint(isOn: false))];
        Assert.Equal("ID   N  TEXT", lines[0]);
        Assert.Equal(30, lines[1].Length);
        Assert.EndsWith("…", lines[1], StringComparison.Ordinal);
        Assert.DoesNotContain('\u001b', string.Concat(table.Lines(width: null, new Paint(isOn: false))));
    }

    [Theory]
    [InlineData("q", "Quit")]
    [InlineData("\u001b[A\u001bOB", "Up Down")]
    [InlineData("p\t\u001b[Zx", "Pause NextNode PreviousNode Other")]
    [InlineData("\u001b[5~\u001b[1;5A\u001b", "PageUp Other Other")]
    [InlineData("\u001b[", "Other")]
    public void Keys_are_decoded_even_if_several_arrive_at_once(string sent, string keys)
    {
        ReadOnlySpan<byte> bytes = Encoding.UTF8.GetBytes(sent);
        var decodedKeys = new List<string>();
        while (!bytes.IsEmpty)
        {
            decodedKeys.Add(RawTerminal.TakeKey(ref bytes).ToString());
        }

        Assert.Equal(keys, string.Join(' ', decodedKeys));
    }

    [Theory]
    [InlineData(0, "0 B")]
    [InlineData(1023, "1023 B")]
    [InlineData(1536, "1.5 KiB")]
    [InlineData(300 * 1024 * 1024, "300 MiB")]
    public void Bytes_are_shown_in_a_suitable_unit(double bytes, string expected) =>
        Assert.Equal(expected, Platform.Amount.Bytes(bytes));

    [Theory]
    [InlineData("""{"url":"http://a:1"}""", 1)]
    [InlineData("""{"url":["http://a:1","https://b"],"token":"t","ca":null,"database":"d"}""", 2)]
    public void Settings_name_one_address_or_several(string text, int addresses)
    {
        var settings = UserSettings.Parse("config.json", text);
        Assert.Equal(addresses, settings.Urls.Count);
        Assert.True(settings.ContainsAll([new Uri("http://a:1/")]));
        Assert.False(settings.ContainsAll([new Uri("http://a:1/"), new Uri("http://c/")]));
    }

    [Theory]
    [InlineData("{\"database\":\"M\ufffdller\"}", "is not valid UTF-8.")]
    [InlineData("{\"database\":\"\\ud800\"}", "has a text with half of a surrogate pair.")]
    [InlineData("{\"\\ud800\":null}", "has a text with half of a surrogate pair.")]
    [InlineData("{\"ca\":\"/a\\u0000\"}", "has a NUL character in \"ca\".")]
    [InlineData("{\n", "is not valid JSON in line 2.")]
    public void Settings_with_an_invalid_text_are_refused(string text, string problem) =>
        Assert.Equal(
            "The file config.json " + problem,
            Assert.Throws<AdminException>(() => UserSettings.Parse("config.json", text)).Message
        );

    [Fact]
    public void Settings_that_name_a_member_twice_are_refused()
    {
        var refused = Assert.Throws<AdminException>(() =>
            UserSettings.Parse("config.json", """{"url":"http://a:1","token":"t","url":"http://b:1"}""")
        );
        Assert.Equal("The file config.json names \"url\" a second time.", refused.Message);
    }
}
