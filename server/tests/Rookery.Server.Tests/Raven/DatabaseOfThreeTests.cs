using System.Net;
using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Parsing;

namespace Rookery.Server.Tests.Raven;

/// <summary>The list of databases on a node that is one of three.</summary>
public sealed class DatabaseOfThreeTests : IAsyncLifetime
{
    private readonly RunningServer _server;
    private Func<IConsensus, Task> _atBarrier = static _ => Task.CompletedTask;

    public DatabaseOfThreeTests() =>
        _server = new RunningServer
        {
            WrapConsensus = alone => new OneOfThree(alone, consensus => _atBarrier(consensus)),
        };

    public Task InitializeAsync() => _server.InitializeAsync();

    public Task DisposeAsync() => _server.DisposeAsync();

    [Fact]
    public async Task All_members_hold_a_database_and_too_many_replicas_are_refused()
    {
        var created = await _server.SendAsync("PUT", "/admin/databases?name=shop&replicationFactor=3", "{}");
        Assert.Equal(201, created.Status);
        Assert.Equal(
            ["A", "B", "C"],
            created.Json.GetProperty("Topology").GetProperty("Members").EnumerateArray().Select(tag => tag.GetString())
        );
        Assert.Equal(
            ["http://127.0.0.1:8081", _server.Address.ToString().TrimEnd('/'), "http://127.0.0.1:8083"],
            created.Json.GetProperty("NodesAddedTo").EnumerateArray().Select(url => url.GetString())
        );
        (await _server.SendAsync("PUT", "/admin/databases?name=more&replicationFactor=4", "{}")).IsRefusal(
            400,
            "replicationFactor=4 is more than the number of nodes of this cluster, 3"
        );
    }

    [Fact]
    public async Task The_list_of_databases_waits_for_the_read_barrier_unless_it_is_local()
    {
        CreateDatabaseAtNextBarrier("late");
        var listed = await _server.SendAsync("GET", "/databases?namesOnly=true");
        Assert.Equal(["late"], listed.Json.GetProperty("Databases").EnumerateArray().Select(name => name.GetString()));

        _atBarrier = static _ => throw new InvalidOperationException("A local read must not wait for the barrier.");
        Assert.Equal(200, (await _server.SendAsync("GET", "/databases?consistency=local")).Status);
    }

    [Fact]
    public async Task A_node_without_a_read_barrier_names_the_cause_and_local_reads()
    {
        Assert.Equal(201, (await _server.SendAsync("PUT", "/admin/databases?name=shop", "{}")).Status);
        ((OneOfThree)_server.Node.Consensus).WriteRejection = new Rejection(
            RejectionKind.NoLeader,
            "There is no leader."
        );
        const string why =
            "This node cannot confirm the latest state now, because it does not reach a majority of the voters. "
            + "Try again in a second, or use another node; `rookery status` shows what is missing.";
        foreach (string read in (string[])["/databases/shop/docs?id=a", "/databases"])
        {
            (await _server.SendAsync("GET", read)).IsRefusal(
                503,
                $"{why} With consistency=local it answers what it has, which may be older."
            );

            // A user of the page cannot add the parameter.
            var answer = await _server.SendAsync("GET", read, (string?)null, ("Rookery-Request", "dashboard"));
            Assert.Equal(
                $"{why} The page of this node shows what it has meanwhile, which may be older.",
                answer.Json.GetProperty("Message").GetString()
            );
        }

        // This node's own state does not decide whether the database exists: the leader may have created it.
        Assert.Equal(
            why,
            (await _server.SendAsync("GET", "/databases/none/docs?id=a&consistency=local"))
                .Json.GetProperty("Message")
                .GetString()
        );
    }

    [Fact]
    public async Task A_missing_database_is_reported_only_after_the_read_barrier()
    {
        CreateDatabaseAtNextBarrier("late");
        Assert.Equal(200, (await _server.SendAsync("GET", "/admin/databases?name=late")).Status);
        Assert.Equal(404, (await _server.SendAsync("GET", "/admin/databases?name=never")).Status);
    }

    /// <summary>Formerly, a lagging member refused requests for a database that another member had enabled.</summary>
    [Theory]
    [InlineData("GET", "/databases/shop/stats", 200)]
    [InlineData("GET", "/databases/shop/docs?id=a", 404)]
    [InlineData("PUT", "/databases/shop/docs?id=a", 201)]
    public async Task A_database_is_reported_as_disabled_only_after_the_read_barrier(
        string method,
        string path,
        int status
    )
    {
        Assert.Equal(201, (await _server.SendAsync("PUT", "/admin/databases?name=shop", "{}")).Status);
        const string Names = """{"DatabaseNames":["shop"]}""";
        Assert.Equal(200, (await _server.SendAsync("POST", "/admin/databases/disable", Names)).Status);
        (await SendAsync()).IsRefusal(503, "is disabled");
        SetDisabledAtNextBarrier(isDisabled: false);
        Assert.Equal(status, (await SendAsync()).Status);

        Task<Answer> SendAsync() => _server.SendAsync(method, path, method is "PUT" ? "{}" : null);
    }

    [Fact]
    public async Task A_database_that_was_disabled_before_the_read_barrier_is_not_read()
    {
        Assert.Equal(201, (await _server.SendAsync("PUT", "/admin/databases?name=shop", "{}")).Status);
        foreach (string read in (string[])["/databases/shop/stats", "/databases/shop/docs?id=a"])
        {
            SetDisabledAtNextBarrier(isDisabled: true);
            (await _server.SendAsync("GET", read)).IsRefusal(503, "is disabled");
            SetDisabledAtNextBarrier(isDisabled: false);
            Assert.NotEqual(503, (await _server.SendAsync("GET", read)).Status);
        }
    }

    [Fact]
    public async Task A_merge_of_files_reports_a_missing_database_only_after_the_read_barrier()
    {
        CreateDatabaseAtNextBarrier("late");
        const string Body = """{"DatabaseName":"late","Documents":true}""";
        Assert.Equal(200, (await _server.SendAsync("POST", "/admin/compact", Body)).Status);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_document_without_an_attachment_is_reported_as_missing_only_after_the_read_barrier(bool isBatch)
    {
        Assert.Equal(201, (await _server.SendAsync("PUT", "/admin/databases?name=shop", "{}")).Status);
        Assert.Equal(HttpStatusCode.BadRequest, await AttachAsync());
        PutAtNextBarrier("a", "\"n\":1");
        Assert.Equal(HttpStatusCode.Created, await AttachAsync());

        async Task<HttpStatusCode> AttachAsync()
        {
            using var file = new ByteArrayContent("xyz"u8.ToArray());
            using var batch = new MultipartFormDataContent();
            batch.Add(
                new StringContent("""{"Commands":[{"Type":"AttachmentPUT","Id":"a","Name":"x","ContentType":""}]}"""),
                "main"
            );
            batch.Add(new ByteArrayContent("xyz"u8.ToArray()), "attachment", "x");
            using var answer = isBatch
                ? await _server.Http.PostAsync(new Uri(_server.Address, "/databases/shop/bulk_docs"), batch)
                : await _server.Http.PutAsync(
                    new Uri(_server.Address, "/databases/shop/attachments?id=a&name=x"),
                    file
                );
            return answer.StatusCode;
        }
    }

    /// <summary>Numbers up to the higher one are in use.</summary>
    [Fact]
    public async Task An_import_compares_a_HiLo_document_with_the_one_after_the_read_barrier()
    {
        Assert.Equal(201, (await _server.SendAsync("PUT", "/admin/databases?name=shop", "{}")).Status);
        PutAtNextBarrier("Raven/Hilo/users", "\"Max\":500");
        const string Dump = """{"Docs":[{"Max":7,"@metadata":{"@id":"Raven/Hilo/users"}}]}""";
        var imported = await _server.SendAsync("POST", "/databases/shop/smuggler/import", Dump);
        Assert.Equal(200, imported.Status);
        Assert.Contains("numbers up to 500 are in use", imported.Body, StringComparison.Ordinal);
    }

    private void PutAtNextBarrier(string id, string body) =>
        _atBarrier = async consensus =>
        {
            _atBarrier = static _ => Task.CompletedTask;
            Assert.True(_server.Node.Databases.TryGet("shop", out var database));
            var put = CommandEncoder.Put(
                database.Number,
                Encoding.UTF8.GetBytes(id),
                ExpectedChangeVector.None,
                new ParsedDocument { BodyHead = Encoding.UTF8.GetBytes(body) },
                key: default
            );
            Assert.Null((await consensus.ProposeAsync(put, CancellationToken.None)).Rejection);
        };

    private void SetDisabledAtNextBarrier(bool isDisabled) =>
        _atBarrier = async consensus =>
        {
            _atBarrier = static _ => Task.CompletedTask;
            Assert.True(_server.Node.Databases.TryGet("shop", out var database));
            byte[] text = isDisabled ? [.. "true"u8] : [.. "false"u8];
            Assert.Null(
                (
                    await consensus.ProposeAsync(
                        CommandEncoder.SetConfiguration(database.Number, ConfigurationName.Disabled, text),
                        CancellationToken.None
                    )
                ).Rejection
            );
        };

    // The node learns of the database during its next read barrier, as a lagging node does.
    private void CreateDatabaseAtNextBarrier(string name) =>
        _atBarrier = async consensus =>
        {
            _atBarrier = static _ => Task.CompletedTask;
            Assert.Null(
                (
                    await consensus.ProposeAsync(
                        CommandEncoder.CreateDatabase(name, HistoryId.Create()),
                        CancellationToken.None
                    )
                ).Rejection
            );
        };
}
