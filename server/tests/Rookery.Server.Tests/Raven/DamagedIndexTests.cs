using System.Text.Json;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Raven;

/// <summary>An index whose rows become unreadable while they are used.</summary>
public sealed class DamagedIndexTests : IAsyncLifetime
{
    private const int Documents = 300;

    private readonly RunningServer _server = new();
    private string _database = "";

    public async Task InitializeAsync()
    {
        await _server.InitializeAsync();
        _database = await _server.CreateDatabaseAsync();
        var random = new Random(1);
        var bytes = new byte[2_000];
        for (int i = 0; i < Documents; i++)
        {
            random.NextBytes(bytes);
            string document =
                $$$"""{"name":"User {{{i}}}","text":"{{{Convert.ToHexString(bytes)}}}","@metadata":{"@collection":"Users"}}""";
            Assert.Equal(201, (await _server.SendAsync("PUT", $"{_database}/docs?id=users/{i:000}", document)).Status);
        }

        const string Definition =
            """{"Indexes":[{"Name":"Texts","Maps":["from u in docs.Users select new { u.name, u.text }"],"Fields":{"text":{"Storage":"Yes","Indexing":"No"}}}]}""";
        Assert.Equal(201, (await _server.SendAsync("PUT", _database + "/admin/indexes", Definition)).Status);
        Assert.Equal(
            200,
            (
                await _server.SendAsync(
                    "POST",
                    _database + "/queries",
                    """{"Query":"from index 'Texts' limit 0","WaitForNonStaleResults":true}"""
                )
            ).Status
        );
    }

    public Task DisposeAsync() => _server.DisposeAsync();

    [Fact]
    public async Task A_query_on_a_damaged_index_is_refused_and_the_index_is_rebuilt()
    {
        await FailReadsAfterAsync(1);
        const string Query = """{"Query":"from index 'Texts' select name, text limit 3 offset 150"}""";
        (await _server.SendAsync("POST", _database + "/queries", Query)).IsRefusal(503, "turned out to be damaged");
        await EndFailuresAsync();
        var again = await _server.SendAsync(
            "POST",
            _database + "/queries",
            """{"Query":"from index 'Texts' select name, text limit 3 offset 150","WaitForNonStaleResults":true}"""
        );
        Assert.Equal(3, again.Json.GetProperty("Results").GetArrayLength());
        // The whole text: 2000 bytes in hexadecimal.
        Assert.Equal(4_000, again.Json.GetProperty("Results")[0].GetProperty("text").GetString()!.Length);
    }

    [Fact]
    public async Task A_request_in_a_multi_get_on_a_damaged_index_is_refused()
    {
        await FailReadsAfterAsync(1);
        string body = JsonSerializer.Serialize(
            new
            {
                Requests = (object[])
                    [
                        new
                        {
                            Url = "/queries",
                            Method = "POST",
                            Content = """{"Query":"from index 'Texts' select name, text limit 3 offset 150"}""",
                        },
                    ],
            }
        );
        var answer = await _server.SendAsync("POST", _database + "/multi_get", body);
        Assert.Equal(200, answer.Status);
        Assert.Equal(503, answer.Json.GetProperty("Results")[0].GetProperty("StatusCode").GetInt32());
    }

    [Fact]
    public async Task A_started_stream_is_cut_off_at_a_damaged_index()
    {
        // So many that the answer has begun before the first failure.
        await FailReadsAfterAsync(60);
        using var request = new HttpRequestMessage(
            HttpMethod.Post,
            new Uri(_server.Address, _database + "/streams/queries?format=jsonl")
        );
        request.Content = new StringContent("""{"Query":"from index 'Texts' select name, text"}""");
        using var response = await _server.Http.SendAsync(request, HttpCompletionOption.ResponseHeadersRead);
        Assert.Equal(200, (int)response.StatusCode);
        await Assert.ThrowsAnyAsync<Exception>(() => response.Content.ReadAsStringAsync());
        await EndFailuresAsync();
        var whole = await _server.SendAsync(
            "POST",
            _database + "/streams/queries?format=jsonl",
            """{"Query":"from index 'Texts' select name, text","WaitForNonStaleResults":true}"""
        );
        Assert.Equal(Documents + 1, whole.Body.Split('\n', StringSplitOptions.RemoveEmptyEntries).Length);
    }

    /// <summary>
    /// Lets the disk fail to read rows of the index after the first <paramref name="rows"/>, which a query has read
    /// into memory.
    /// </summary>
    private async Task FailReadsAfterAsync(int rows)
    {
        await _server.SendAsync(
            "POST",
            _database + "/queries",
            $$"""{"Query":"from index 'Texts' select name, text limit {{rows}}"}"""
        );
        _server.Disk.Inject(
            new DiskFault(AtCall: 1, Errno.InputOutput)
            {
                Calls = DiskCalls.Read,
                PathContains = "/segment-",
                Sticky = true,
            }
        );
    }

    private async Task EndFailuresAsync()
    {
        _server.Disk.ClearFaults();
        await AwaitIndexesAsync();
    }

    private async Task AwaitIndexesAsync()
    {
        while (
            (await _server.SendAsync("GET", _database + "/stats"))
                .Json.GetProperty("Indexes")
                .EnumerateArray()
                .Any(static index => index.GetProperty("IsStale").GetBoolean())
        )
        {
            await Task.Delay(20);
        }
    }
}
