using System.Net;
using System.Text;
using Rookery.Access;
using Rookery.Server.Access;
using Rookery.Server.Configuration;

namespace Rookery.Server.Tests;

/// <summary>The settings of a node, from its file and its command line.</summary>
public sealed class ServeConfigurationTests
{
    private static readonly ServeSettings Minimal = new() { Data = "/data" };

    [Fact]
    public void Only_the_data_directory_is_required()
    {
        var configuration = ServeConfiguration.From(Minimal);

        Assert.Equal("/data", configuration.DataDirectory);
        Assert.Null(configuration.JournalDirectory);
        Assert.Equal(new IPEndPoint(IPAddress.Loopback, 8080), configuration.Listen);
        Assert.True(configuration.MemoryBytes >= MemorySize.MinimumBytes);
    }

    [Theory]
    [InlineData("6379", "127.0.0.1:6379", false)]
    [InlineData("127.0.0.1:6380", "127.0.0.1:6380", false)]
    [InlineData("[::1]:6379", "[::1]:6379", false)]
    [InlineData("0.0.0.0:6379", "0.0.0.0:6379", true)]
    public void Redis_clients_are_served_over_TLS_beyond_the_machine(string given, string used, bool usesTls)
    {
        var redis = ServeConfiguration.From(Minimal with { Redis = given, Listen = "https://127.0.0.1:8443" }).Redis!;
        Assert.Equal(used, redis.Listen.ToString());
        Assert.Equal(usesTls, redis.UsesTls);
        Assert.Equal("redis", redis.Database);
    }

    [Theory]
    [InlineData(null)]
    [InlineData("off")]
    public void Redis_clients_are_not_served_unless_a_port_is_given(string? given) =>
        Assert.Null(ServeConfiguration.From(Minimal with { Redis = given }).Redis);

    [Theory]
    [InlineData("0.0.0.0:6379", "redis", "would let anyone")]
    [InlineData("here:6379", "redis", "must look like 6379")]
    [InlineData("70000", "redis", "must look like 6379")]
    [InlineData(null, "cache", "'cache' for Redis clients is named, but no address")]
    [InlineData("127.0.0.1", "redis", "must look like 6379")]
    [InlineData("6379", "a b", "no valid name")]
    public void Settings_of_Redis_that_cannot_be_used_are_refused(string? listen, string database, string reason) =>
        Assert.Contains(
            reason,
            Assert
                .Throws<ConfigurationException>(() =>
                    ServeConfiguration.From(Minimal with { Redis = listen, RedisDatabase = database })
                )
                .Message,
            StringComparison.Ordinal
        );

    [Fact]
    public void The_file_names_address_and_database_of_Redis_clients()
    {
        var settings = ConfigurationFile.Parse(
            "rookery.json",
            """{"redis": {"listen": "6379", "database": "cache"}}"""u8
        );
        Assert.Equal("6379", settings.Redis);
        Assert.Equal("cache", settings.RedisDatabase);
        Assert.Contains(
            "redis.port",
            Assert
                .Throws<ConfigurationException>(() =>
                    ConfigurationFile.Parse("rookery.json", """{"redis": {"port": 6379}}"""u8)
                )
                .Message,
            StringComparison.Ordinal
        );
    }

    [Theory]
    [InlineData("http://127.0.0.1:80", "127.0.0.1:80")]
    [InlineData("http://localhost:8080/", "127.0.0.1:8080")]
    [InlineData("http://[::1]:9", "[::1]:9")]
    public void An_address_of_this_machine_is_accepted(string listen, string endpoint) =>
        Assert.Equal(IPEndPoint.Parse(endpoint), ServeConfiguration.From(Minimal with { Listen = listen }).Listen);

    [Theory]
    [InlineData("[::]:443", true, "[::]:443")]
    [InlineData("[::]:443", false, "0.0.0.0:443")]
    [InlineData("[::1]:443", false, "[::1]:443")]
    [InlineData("192.168.1.11:443", false, "192.168.1.11:443")]
    public void On_a_kernel_without_IPv6_all_addresses_means_all_IPv4_addresses(
        string given,
        bool supportsIPv6,
        string used
    ) => Assert.Equal(IPEndPoint.Parse(used), ServeConfiguration.UsableOf(IPEndPoint.Parse(given), supportsIPv6));

    [Theory]
    [InlineData(null, "127.0.0.1:0")]
    [InlineData("127.0.0.1:38888", "127.0.0.1:38888")]
    [InlineData("off", null)]
    public void Subscriptions_are_served_at_an_address_or_not_at_all(string? given, string? used) =>
        Assert.Equal(used, ServeConfiguration.From(Minimal with { TcpListen = given }).TcpListen?.ToString());

    [Theory]
    [InlineData("127.0.0.1:80")]
    [InlineData("ftp://127.0.0.1:80")]
    [InlineData("http://example.org:80")]
    [InlineData("http://127.0.0.1:80/db")]
    [InlineData("http://127.0.0.1:80/#x")]
    [InlineData("8080")]
    public void The_refusal_of_an_invalid_address_names_the_address(string listen) =>
        Assert.Contains(
            // If the host is not an IP address, the message names only the host.
            ShownUrl.Of(listen).Replace("http://example.org:80", "example.org", StringComparison.Ordinal),
            ReadRefusal(Minimal with { Listen = listen }),
            StringComparison.Ordinal
        );

    [Theory]
    [InlineData("https://ops:pw@node.example/")]
    [InlineData("https://node.example/#x")]
    [InlineData("https://node.example/x")]
    public void A_public_URL_is_only_scheme_host_and_port(string url) =>
        Assert.Contains(
            "must look like https://node.example:8080",
            ReadRefusal(Minimal with { PublicUrl = url }),
            StringComparison.Ordinal
        );

    [Fact]
    public void Plain_HTTP_beyond_this_machine_needs_the_option_insecure()
    {
        var open = Minimal with { Listen = "http://0.0.0.0:8080" };

        Assert.Contains("--insecure", ReadRefusal(open), StringComparison.Ordinal);
        Assert.Equal(IPAddress.Any, ServeConfiguration.From(open with { Insecure = true }).Listen.Address);
    }

    [Fact]
    public void TLS_may_listen_beyond_this_machine()
    {
        var secure = ServeConfiguration.From(Minimal with { Listen = "https://0.0.0.0:8443" });
        Assert.Equal((true, IPEndPoint.Parse("0.0.0.0:8443")), (secure.IsSecure, secure.Listen));
        Assert.False(ServeConfiguration.From(Minimal).IsSecure);
    }

    [Theory]
    [InlineData("127.0.0.1")]
    [InlineData("http://127.0.0.1:80")]
    [InlineData("pi-1.local:80")]
    public void A_welcome_page_needs_an_address_and_a_port(string welcome) =>
        Assert.Contains(
            $"must look like [::]:80, not like \"{welcome}\"",
            ReadRefusal(Minimal with { Listen = "https://0.0.0.0:8443", Welcome = welcome }),
            StringComparison.Ordinal
        );

    [Fact]
    public void A_welcome_page_needs_TLS_for_clients()
    {
        Assert.Contains(
            "needs a node that listens on https",
            ReadRefusal(Minimal with { Welcome = "0.0.0.0:80" }),
            StringComparison.Ordinal
        );
        Assert.Equal(
            IPEndPoint.Parse("0.0.0.0:80"),
            ServeConfiguration.From(Minimal with { Listen = "https://0.0.0.0:8443", Welcome = "0.0.0.0:80" }).Welcome
        );
        Assert.Null(ServeConfiguration.From(Minimal).Welcome);
    }

    [Theory]
    [InlineData("http://192.168.1.7:9100/metrics")]
    [InlineData("https://127.0.0.1:9100/metrics")]
    [InlineData("127.0.0.1:9100")]
    public void The_machine_metrics_URL_must_be_on_this_machine(string url) =>
        Assert.Contains(url, ReadRefusal(Minimal with { MachineMetrics = url }), StringComparison.Ordinal);

    [Theory]
    [InlineData("http://127.0.0.1:9100/metrics?key=hidden#hidden", "http://127.0.0.1:9100/metrics")]
    [InlineData("http://127.0.0.1:9100/", "http://127.0.0.1:9100/")]
    public void The_machine_metrics_URL_is_shown_without_its_query(string url, string shown)
    {
        var settings = Minimal with { MachineMetrics = url };
        Assert.Equal(
            shown,
            ShownSetting
                .Of(settings, file: null, ServeConfiguration.From(settings))
                .Single(static setting => setting.Name is "machineMetrics")
                .Value
        );
    }

    [Theory]
    [InlineData("https://user:hid/den@node.example/?key=hidden")]
    [InlineData("https://node.example/?key=hidden")]
    [InlineData("https://node.example/#hidden")]
    [InlineData("user:hidden@node.example")]
    [InlineData("ftp://user:hidden@node.example?hidden")]
    public void The_refusal_of_a_URL_does_not_show_its_secrets(string url)
    {
        foreach (
            var settings in (ServeSettings[])
                [Minimal with { MachineMetrics = url }, Minimal with { PublicUrl = url }, Minimal with { Listen = url }]
        )
        {
            string refusal = ReadRefusal(settings);
            Assert.Contains("node.example", refusal, StringComparison.Ordinal);
            Assert.DoesNotContain("hid", refusal, StringComparison.Ordinal);
        }

        string problem = NodeAddress.ProblemOf(url, NodeAddress.DefaultUrl)!;
        Assert.Contains("node.example", problem, StringComparison.Ordinal);
        Assert.DoesNotContain("hid", problem, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("pelican-orbit-lamp-7", null)]
    [InlineData("ABCDEFGH23456789\n", null)]
    [InlineData("pelican-orbit", "at least 16 letters and digits, and holds 12")]
    [InlineData("- - - - - - - - - - -", "holds 0")]
    [InlineData("abab abab abab abab abab", "at least 8 different")]
    [InlineData("pelican-orbit-lämp-7", "only letters A to Z")]
    public void A_preset_claim_code_must_be_as_strong_as_a_generated_one(string code, string? refusal) =>
        Assert.True(
            refusal is null
                ? ClaimCode.WhyUnusable(code) is null
                : ClaimCode.WhyUnusable(code)!.Contains(refusal, StringComparison.Ordinal),
            ClaimCode.WhyUnusable(code)
        );

    [Theory]
    [InlineData("134217728", 128L << 20)]
    [InlineData("128M", 128L << 20)]
    [InlineData("128 MiB", 128L << 20)]
    [InlineData("2g", 2L << 30)]
    [InlineData("98304KB", 96L << 20)]
    public void Amounts_of_memory_are_read(string text, long bytes) =>
        Assert.Equal(bytes, ServeConfiguration.From(Minimal with { Memory = text }).MemoryBytes);

    [Theory]
    [InlineData("95M")]
    [InlineData("much")]
    [InlineData("-1G")]
    [InlineData("1T")]
    [InlineData("9999999999999G")]
    [InlineData("")]
    public void Too_little_memory_and_nonsense_are_refused(string text) => ReadRefusal(Minimal with { Memory = text });

    [Fact]
    public void The_command_line_takes_precedence_over_the_file()
    {
        var file = ConfigurationFile.Parse("f.json", """{"data":"/file","memory":"1G","insecure":true}"""u8);
        var both = new ServeSettings { Data = "/line" }.Over(file);

        Assert.Equal(
            new ServeSettings
            {
                Data = "/line",
                Memory = "1G",
                Insecure = true,
            },
            both
        );
    }

    [Theory]
    [InlineData("{\n \"memroy\": \"1G\"}", "\"memroy\" in line 2")]
    [InlineData("{\n\n \"data\": 1}", "\"data\" a value that is not a string in line 3")]
    [InlineData("{\"insecure\": \"yes\"}", "\"insecure\" a value that is not true or false in line 1")]
    [InlineData("{\"data\":\"a\",\n\"data\":\"b\"}", "\"data\" a second time in line 2")]
    [InlineData("{\n\"data\":\"a\"\n\"memory\":\"1G\"}", "not valid JSON in line 3")]
    [InlineData("[]", "one JSON object")]
    [InlineData("", "not valid JSON in line 1")]
    [InlineData("{} {}", "not valid JSON in line 1")]
    [InlineData(
        "{\n\"data\":\"/B\u00fccher\"}",
        "has a text that is not UTF-8, or has half of a surrogate pair, in line 2"
    )]
    [InlineData("{\"data\":\"\\ud800\"}", "half of a surrogate pair, in line 1")]
    [InlineData("{\"\\ud800\":1}", "half of a surrogate pair, in line 1")]
    [InlineData("{\"journal\":\"/a\\u0000b\"}", "has a NUL character in \"journal\" in line 1")]
    [InlineData(
        "{\"webhook\":{\"url\":\"https://a/b\",\"tokenFile\":\"\"}}",
        "gives \"webhook.tokenFile\" an empty path"
    )]
    [InlineData("{\"form\":{\"expect\":3,\"phraseFile\":\" \"}}", "gives \"form.phraseFile\" an empty path in line 1")]
    public void An_invalid_file_is_refused_with_name_and_line(string text, string expected)
    {
        var refused = Assert.Throws<ConfigurationException>(() =>
            ConfigurationFile.Parse("f.json", Encoding.Latin1.GetBytes(text))
        );

        Assert.Contains("f.json", refused.Message, StringComparison.Ordinal);
        Assert.Contains(expected, refused.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("{\"form\": 3}", "\"form\" a value that is not an object in line 1")]
    [InlineData("{\"form\": {\"expect\": 3}}", "must say both \"expect\" and \"phraseFile\" in \"form\"")]
    [InlineData("{\"form\": {\"phraseFile\": \"p\"}}", "must say both \"expect\" and \"phraseFile\" in \"form\"")]
    [InlineData("{\"form\": {\n\"expect\": \"3\"}}", "\"form.expect\" a value that is not a whole number in line 2")]
    [InlineData("{\"form\": {\"expect\": 3.5}}", "\"form.expect\" a value that is not a whole number")]
    [InlineData("{\"form\": {\"phraseFile\": 3}}", "\"form.phraseFile\" a value that is not a string")]
    [InlineData("{\"form\": {\"phrase\": \"x\"}}", "has the unknown setting \"form.phrase\"")]
    [InlineData("{\"form\": {\"expect\": 3,\n\"expect\": 4}}", "names \"form.expect\" a second time in line 2")]
    [InlineData(
        "{\"form\": {\"phraseFile\": \"p\", \"expect\": 3, \"phraseFile\": \"q\"}}",
        "names \"form.phraseFile\" a second time"
    )]
    public void Invalid_form_settings_are_refused_with_name_and_line(string text, string expected) =>
        An_invalid_file_is_refused_with_name_and_line(text, expected);

    [Fact]
    public void A_cluster_is_formed_by_two_to_nine_nodes_whose_journals_are_in_their_data_directories()
    {
        var read = ConfigurationFile.Parse(
            "f.json",
            """{"form":{"phraseFile":"/phrase","expect":3},"data":"/data"}"""u8
        );
        Assert.Equal(new FormSettings(Expect: 3, "/phrase"), ServeConfiguration.From(read).Form);
        Assert.Contains(
            "\"form.expect\" is 1.",
            ReadRefusal(read with { Form = new FormSettings(Expect: 1, "/phrase") }),
            StringComparison.Ordinal
        );
        Assert.Contains(
            "\"form.expect\" is 10.",
            ReadRefusal(read with { Form = new FormSettings(Expect: 10, "/phrase") }),
            StringComparison.Ordinal
        );
        Assert.Contains(
            "leave out \"journal\"",
            ReadRefusal(read with { Journal = "/journal" }),
            StringComparison.Ordinal
        );
    }

    private static string ReadRefusal(ServeSettings settings) =>
        Assert.Throws<ConfigurationException>(() => ServeConfiguration.From(settings)).Message;
}
