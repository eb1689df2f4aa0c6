using System.Text.Json;
using System.Text.RegularExpressions;
using Microsoft.Extensions.Logging;
using Rookery.Hosting;
using Rookery.Server.Access;
using Rookery.Server.Configuration;
using Rookery.Server.Support;
using Rookery.Server.Tests.Access;

namespace Rookery.Server.Tests.Support;

/// <summary>The last log lines in memory, without secrets.</summary>
public sealed partial class LogRingTests
{
    private static readonly DateTimeOffset Now = new(2026, 11, 25, 12, 0, 0, TimeSpan.Zero);

    [Fact]
    public void The_last_lines_are_kept_with_their_numbers()
    {
        var ring = new LogRing(mostLines: 3);
        for (int i = 1; i <= 5; i++)
        {
            ring.Add(Now, LogLevel.Warning, new EventId(1103), $"line {i}");
        }

        Assert.Equal(
            [(3, "line 3"), (4, "line 4"), (5, "line 5")],
            ring.Read(null, 10).Select(static line => (line.Sequence, line.Text))
        );
        Assert.Equal(["line 5"], ring.Read(null, 1).Select(static line => line.Text));
        Assert.Equal(["line 4", "line 5"], ring.Read(3, 10).Select(static line => line.Text));
        Assert.Equal(["line 4"], ring.Read(3, 1).Select(static line => line.Text));
        Assert.Equal(["line 3"], ring.Read(0, 1).Select(static line => line.Text));
        Assert.Empty(ring.Read(5, 10));
    }

    [Fact]
    public void A_reader_that_knows_lines_of_an_earlier_start_gets_the_lines_of_this_one()
    {
        var ring = new LogRing();
        Assert.Empty(ring.Read(1900, 10));
        ring.Add(Now, LogLevel.Information, default, "line 1");
        ring.Add(Now, LogLevel.Information, default, "line 2");
        Assert.Equal(["line 1", "line 2"], ring.Read(1900, 10).Select(static line => line.Text));
        Assert.Equal(["line 2"], ring.Read(1900, 1).Select(static line => line.Text));
    }

    [Fact]
    public void A_long_line_displaces_several_short_ones()
    {
        var ring = new LogRing(mostLines: 1000, mostBytes: 10_000);
        for (int i = 0; i < 100; i++)
        {
            ring.Add(Now, LogLevel.Error, default, new string('x', 1000));
        }

        // A character takes two bytes, and each line some more, so four lines fit into 10,000 bytes.
        Assert.Equal(4, ring.Read(null, 1000).Count);
        ring.Add(Now, LogLevel.Error, default, new string('y', 100_000));
        Assert.InRange(Assert.Single(ring.Read(null, 1000)).Text.Length, 8000, 9000);
    }

    [Theory]
    [InlineData("")]
    [InlineData("x")]
    public void A_line_is_cut_after_a_whole_character(string before)
    {
        var ring = new LogRing();
        ring.Add(Now, LogLevel.Error, default, before + string.Concat(Enumerable.Repeat("😀", 5000)));
        Assert.EndsWith("😀 …", Assert.Single(ring.Read(null, 1)).Text, StringComparison.Ordinal);
    }

    // A line is cut after 8 KiB or 16 KiB, which is within a token here.
    [Theory]
    [InlineData(8172, 1)]
    [InlineData(16364, 1)]
    [InlineData(0, 1000)]
    public void A_truncated_line_contains_no_part_of_a_secret(int charactersBefore, int tokens)
    {
        var ring = new LogRing();
        ring.Add(
            Now,
            LogLevel.Error,
            default,
            new string('x', charactersBefore)
                + string.Concat(Enumerable.Repeat(" rookery_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", tokens))
                + " rest"
        );
        Assert.DoesNotContain("rookery_A", ring.Read(null, 1)[0].Text, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(
        "https://ntfy.sh/rookery",
        "Posted to /rookery: the rookery is well",
        "Posted to /rookery: the rookery is well"
    )]
    [InlineData(
        "https://ntfy.sh/our-rookery-7Kq2",
        "Posted to /our-rookery-7Kq2: the rookery is well",
        "Posted to /(secret): the rookery is well"
    )]
    public void A_webhook_path_is_hidden_if_it_cannot_be_guessed(string url, string text, string expected)
    {
        var secrets = new SecretFilter();
        Assert.Null(Webhook.ReadToken(new WebhookConfiguration(new Uri(url), "ntfy", TokenFile: null), secrets));
        Assert.Equal(expected, secrets.Clean(text));
    }

    // A metric whose name is as long as a token is no secret, nor is advice to send one.
    [Theory]
    [InlineData("token rookery_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA ends", "token (secret) ends")]
    [InlineData("join rookery-join-1.AbC-_9 now", "join (secret) now")]
    [InlineData("Authorization: Bearer abcdefghijkl", "Authorization: Bearer (secret)")]
    [InlineData("at https://user:password@host/x", "at https://(secret)@host/x")]
    [InlineData("-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIBk\n-----END EC PRIVATE KEY-----\nrest", "(secret)\nrest")]
    [InlineData("code ABCDEFGH23456789, or abcdefgh23456789", "code (secret), or (secret)")]
    [InlineData("{\"Phrase\":\"pelican \\u0022orbit\\u0022\"}", "{\"Phrase\":\"(secret)\"}")]
    [InlineData("rookery_backup_last_success_timestamp_seconds 1", "rookery_backup_last_success_timestamp_seconds 1")]
    [InlineData(
        "rookery_a_metric_whose_name_is_exactly_as_long_as_one 1",
        "rookery_a_metric_whose_name_is_exactly_as_long_as_one 1"
    )]
    [InlineData(
        "send 'Authorization: Bearer TOKEN', or a client certificate",
        "send 'Authorization: Bearer TOKEN', or a client certificate"
    )]
    public void Secrets_are_removed_from_lines(string text, string expected)
    {
        var ring = new LogRing();
        ring.Secrets.Hide("ABCDEFGH23456789");
        ring.Secrets.Hide("pelican \"orbit\"\n");
        ring.Secrets.Hide("a");
        ring.Secrets.Hide(null);
        ring.Add(Now, LogLevel.Information, default, text);
        Assert.Equal(expected, ring.Read(null, 1)[0].Text);
    }

    [Fact]
    public async Task Only_an_admin_reads_the_last_lines()
    {
        var node = new SecureServer();
        await node.InitializeAsync();
        try
        {
            for (int i = 1; i <= 3; i++)
            {
                node.Context.RecentLog.Add(Now, LogLevel.Warning, LogEvents.SlowSync, $"slow {i}");
            }

            using var answer = JsonDocument.Parse(
                (await node.SendAsync("GET", "/admin/logs?after=1&limit=1", SecureServer.LocalKey)).Body
            );
            Assert.Equal(
                """{"Lines":[{"Sequence":2,"Time":"2026-11-25T12:00:00Z","Level":"warning","EventId":1103,"Text":"slow 2"}]}""",
                answer.RootElement.GetRawText()
            );
            (await node.SendAsync("GET", "/admin/logs", await node.GiveTokenAsync(["metrics"]))).IsRefusal(
                403,
                "needs the scope admin"
            );
            (await node.SendAsync("GET", "/admin/logs?limit=0", SecureServer.LocalKey)).IsRefusal(
                400,
                "'limit' must be a whole number from 1 to 2000, not '0'."
            );
            (await node.SendAsync("GET", "/admin/logs?after=x", SecureServer.LocalKey)).IsRefusal(
                400,
                "'after' must be a whole number, not 'x'."
            );
        }
        finally
        {
            await node.DisposeAsync();
        }
    }

    [Fact]
    public void The_manual_lists_every_log_event()
    {
        string page = File.ReadAllText(Path.Join(Repository.Root, "docs/reference/log-events.md"));
        Assert.Equal(
            LogEvents.All.Select(static known =>
                $"{known.Id.Id} {known.Id.Name} {known.Level.ToString().ToLowerInvariant()} {known.Meaning}"
            ),
            Row()
                .Matches(page)
                .Select(static match =>
                    $"{match.Groups["id"].Value} {match.Groups["name"].Value} {match.Groups["level"].Value} "
                    + $"{match.Groups["meaning"].Value}"
                )
        );
        Assert.Equal(
            LogEvents.All.Select(static known => known.Id.Id).Order().Distinct(),
            LogEvents.All.Select(static known => known.Id.Id)
        );
    }

    /// <summary>A program cannot watch for a line without a number.</summary>
    [Fact]
    public void Every_line_that_the_sources_log_has_a_number()
    {
        string sources = Path.Join(Repository.Root, "server/src");
        string[] projects = ["Rookery", "Rookery.Hosting", "Rookery.Server"];
        string[] lines =
        [
            .. projects
                .SelectMany(project =>
                    Directory.EnumerateFiles(Path.Join(sources, project), "*.cs", SearchOption.AllDirectories)
                )
                .Where(static path =>
                    !path.Contains("/obj/", StringComparison.Ordinal)
                    && !path.Contains("/bin/", StringComparison.Ordinal)
                )
                .SelectMany(static path =>
                    Logged().Matches(File.ReadAllText(path)).Select(match => $"{Path.GetFileName(path)}: {match.Value}")
                ),
        ];
        Assert.True(lines.Length > 25, $"{lines.Length} calls are found in the sources, but more than 25 are expected");
        Assert.DoesNotContain(lines, static line => !line.Contains("LogEvents.", StringComparison.Ordinal));
    }

    [GeneratedRegex(
        @"^\| (?<id>\d+) \| `(?<name>\w+)` \| (?<level>\w+) \| (?<meaning>.*) \|$",
        RegexOptions.Multiline | RegexOptions.ExplicitCapture | RegexOptions.CultureInvariant,
        matchTimeoutMilliseconds: 10_000
    )]
    private static partial Regex Row();

    [GeneratedRegex(
        @"\.Log(Information|Warning|Error|Critical)\(\s*[^,)]*",
        RegexOptions.ExplicitCapture | RegexOptions.CultureInvariant,
        matchTimeoutMilliseconds: 10_000
    )]
    private static partial Regex Logged();

    /// <summary>Each possible beginning makes the pattern search all the rest.</summary>
    [Fact]
    public void Text_that_cannot_be_searched_in_time_is_withheld()
    {
        string token = AccessToken.Create();
        string slow = string.Concat(Enumerable.Repeat("rookery_", 1_000_000)) + " " + token;
        Assert.Equal("(secret)", new SecretFilter().Clean(slow));
    }
}
