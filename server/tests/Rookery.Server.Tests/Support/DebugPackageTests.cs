using System.Formats.Tar;
using System.IO.Compression;
using System.Net;
using System.Net.Http.Headers;
using System.Text;
using System.Text.Json;
using Microsoft.Extensions.Logging;
using Rookery.Server.Access;
using Rookery.Server.Alerts;
using Rookery.Server.Configuration;
using Rookery.Server.Support;
using Rookery.Server.Tests.Access;

namespace Rookery.Server.Tests.Support;

/// <summary>The archive of facts about a node for people who help with a problem.</summary>
public sealed class DebugPackageTests(NodeInDiagnosis inDiagnosis) : IClassFixture<NodeInDiagnosis>
{
    private static readonly string[] Expected =
    [
        "README.txt",
        "version.json",
        "settings.json",
        "ready.json",
        "alerts.json",
        "raft.json",
        "storage.json",
        "indexes.json",
        "metrics.txt",
        "io-timeline.json",
        "log.txt",
        "log.json",
        "history/A.json",
        "history/A-slow.json",
    ];

    [Fact]
    public async Task A_package_is_complete_and_readable_with_standard_tools()
    {
        var node = new SecureServer();
        await node.InitializeAsync();
        try
        {
            // A node with a line in its log and an alert.
            node.Context.RecentLog.Add(
                node.Time.GetUtcNow(),
                LogLevel.Warning,
                LogEvents.SlowSync,
                "A sync took long."
            );
            node.Context.ActiveAlerts = () =>
                [
                    new ActiveAlert(
                        "hot",
                        AlertSeverity.Warning,
                        node.Time.GetUtcNow(),
                        "It is hot.",
                        "Give it air.",
                        "/help/reference/alerts.md#hot"
                    ),
                ];
            var files = await FetchAsync(node);
            Assert.Equal(
                Expected,
                files.Keys.Select(static name => name[(name.IndexOf('/', StringComparison.Ordinal) + 1)..])
            );
            Assert.All(
                files.Keys,
                static name => Assert.StartsWith("rookery-debug-pi-1-20260101-000000/", name, StringComparison.Ordinal)
            );
            Assert.All(
                Expected,
                name =>
                    Assert.True(
                        name is "README.txt"
                            || files["rookery-debug-pi-1-20260101-000000/README.txt"]
                                .Contains($"\n{name} ", StringComparison.Ordinal),
                        $"the README describes {name}"
                    )
            );
            string Read(string name) => files[$"rookery-debug-pi-1-20260101-000000/{name}"];
            JsonElement ReadJson(string name) => JsonDocument.Parse(Read(name)).RootElement;
            Assert.Contains("rookery_ready 1\n", Read("metrics.txt"), StringComparison.Ordinal);
            Assert.Contains("warning: A sync took long.\n", Read("log.txt"), StringComparison.Ordinal);
            // 1103 is the number of LogEvents.SlowSync.
            Assert.Equal(1103, ReadJson("log.json").GetProperty("Lines")[0].GetProperty("EventId").GetInt32());
            Assert.Equal(
                "It is hot.",
                ReadJson("alerts.json").GetProperty("Alerts")[0].GetProperty("Sentence").GetString()
            );
            Assert.Equal("Leader", ReadJson("raft.json").GetProperty("Cluster").GetProperty("Role").GetString());
            Assert.Equal(
                ["Other", "Shop"],
                ReadJson("storage.json")
                    .GetProperty("Databases")
                    .EnumerateArray()
                    .Select(static database => database.GetProperty("Name").GetString())
                    .Order(StringComparer.Ordinal)
            );
            Assert.True(ReadJson("io-timeline.json").GetProperty("Events").GetProperty("Rows").GetArrayLength() > 0);
            Assert.True(ReadJson("ready.json").GetProperty("Ready").GetBoolean());
        }
        finally
        {
            await node.DisposeAsync();
        }
    }

    /// <summary>
    /// Secrets are planted where a careless line could leave them: in the log, in a part, in a setting, in the
    /// machine's location.
    /// </summary>
    [Fact]
    public async Task A_package_contains_no_secret()
    {
        const string phrase = "pelican orbit \"lamp\" seven";
        const string webhook = "hooks-T0001-secret-place";
        const string pem =
            "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIB\n-----END PRIVATE KEY-----";
        const string joinToken = "rookery-join-1.AAECAwQFBgcICQoLDA0ODw";
        string token = AccessToken.Create();
        string[] secrets =
        [
            phrase,
            webhook,
            "MIGHAgEAMBMGByqGSM49AgEG",
            joinToken,
            token,
            SecureServer.LocalKey,
            SecureServer.ClaimCode,
            "hunter2hunter2",
        ];
        string all =
            $"{phrase} {webhook} {pem} {joinToken} {token} {SecureServer.LocalKey} {SecureServer.ClaimCode} "
            + $"https://u:hunter2hunter2@host/";
        var node = new SecureServer
        {
            Settings = [new ShownSetting("webhook", all, "file")],
            DebugParts =
            [
                DebugPart.OfText("careless.txt", "what nobody should write", () => all),
                DebugPart.OfJson("careless.json", "the same", json => json.WriteString("Said"u8, all)),
                DebugPart.OfText("broken.txt", "what fails", () => throw new IOException(all)),
            ],
        };
        await node.InitializeAsync();
        try
        {
            foreach (string known in (string[])[phrase, webhook, SecureServer.ClaimCode])
            {
                node.Context.RecentLog.Secrets.Hide(known);
            }

            string granted = await node.GiveTokenAsync(["admin"]);
            node.Context.RecentLog.Add(node.Time.GetUtcNow(), LogLevel.Error, LogEvents.RequestFailed, all);
            node.Context.ActiveAlerts = () =>
                [new ActiveAlert("hot", AlertSeverity.Warning, node.Time.GetUtcNow(), all, all, all)];
            var files = await FetchAsync(node, granted);
            string[] partsWithSecrets =
            [
                "careless.txt",
                "careless.json",
                "broken.txt.failed.txt",
                "alerts.json",
                "log.txt",
                "settings.json",
            ];
            Assert.All(
                partsWithSecrets,
                name =>
                    Assert.Contains(
                        "(secret)",
                        files.Single(file => file.Key.EndsWith("/" + name, StringComparison.Ordinal)).Value,
                        StringComparison.Ordinal
                    )
            );
            string content = string.Concat(files.Select(static file => file.Key + file.Value));
            Assert.All(
                secrets.Append(granted),
                secret => Assert.DoesNotContain(secret, content, StringComparison.OrdinalIgnoreCase)
            );
        }
        finally
        {
            await node.DisposeAsync();
        }
    }

    [Fact]
    public async Task A_node_in_diagnosis_mode_builds_a_package()
    {
        using var answer = await inDiagnosis.Http.GetAsync("/admin/node/debug-package");
        Assert.Equal("application/gzip", answer.Content.Headers.ContentType?.MediaType);
        var files = await UnpackAsync(await answer.Content.ReadAsStreamAsync());
        Assert.DoesNotContain(files.Keys, static name => name.EndsWith(".failed.txt", StringComparison.Ordinal));
        Assert.Contains(
            "format 9",
            files.Single(static file => file.Key.EndsWith("/ready.json", StringComparison.Ordinal)).Value,
            StringComparison.Ordinal
        );
        Assert.Equal(HttpStatusCode.OK, (await inDiagnosis.Http.GetAsync("/admin/logs")).StatusCode);
        Assert.Equal(HttpStatusCode.OK, (await inDiagnosis.Http.GetAsync("/admin/node/settings")).StatusCode);
        Assert.Equal(HttpStatusCode.OK, (await inDiagnosis.Http.GetAsync("/dashboard/alerts")).StatusCode);
    }

    [Fact]
    public async Task Only_an_admin_gets_a_package()
    {
        var node = new SecureServer();
        await node.InitializeAsync();
        try
        {
            string token = await node.GiveTokenAsync(["read", "write", "metrics"]);
            (await node.SendAsync("GET", "/admin/node/debug-package", token)).IsRefusal(403, "needs the scope admin");
            (await node.SendAsync("GET", "/admin/node/settings", token)).IsRefusal(403, "needs the scope admin");
            (await node.SendAsync("POST", "/admin/alerts/test", token)).IsRefusal(403, "needs the scope admin");
            Assert.Equal(200, (await node.SendAsync("GET", "/dashboard/alerts", token)).Status);
        }
        finally
        {
            await node.DisposeAsync();
        }
    }

    private static async Task<Dictionary<string, string>> FetchAsync(
        SecureServer node,
        string token = SecureServer.LocalKey
    )
    {
        using var http = node.NewClient();
        http.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("Bearer", token);
        using var answer = await http.GetAsync(new Uri(node.Address, "/admin/node/debug-package"));
        Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
        return await UnpackAsync(await answer.Content.ReadAsStreamAsync());
    }

    private static async Task<Dictionary<string, string>> UnpackAsync(Stream compressed)
    {
        var files = new Dictionary<string, string>(StringComparer.Ordinal);
        await using var gzip = new GZipStream(compressed, CompressionMode.Decompress);
        await using var tar = new TarReader(gzip);
        while (await tar.GetNextEntryAsync(copyData: true) is { } entry)
        {
            // An empty file has no stream: the log of a node that logged nothing.
            using var reader = new StreamReader(entry.DataStream ?? Stream.Null, Encoding.UTF8);
            files.Add(entry.Name, await reader.ReadToEndAsync());
        }

        return files;
    }
}
