using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Nodes;

/// <summary>Documents whose @expires has passed are absent for clients before they are removed.</summary>
public sealed class ExpiredDocumentTests : IDisposable
{
    private readonly SimulatedTimeProvider _time = new(new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero));
    private readonly SteppedNode _node;
    private bool _isSure = true;

    public ExpiredDocumentTests()
    {
        _node = SteppedNode.Open(new SimulatedDisk("/data"), "/data/node", _time);
        _node.Core.Databases.Clock.Start(() => new ClusterTime(_time.GetUtcNow().UtcTicks, _isSure));
        _node.CreateDatabase("db");
        _node.Put("db", "a", """{"@metadata":{"@collection":"Cats","@expires":"2026-01-01T00:01:00Z"}}""");
        string noise = new('x', 200_000);
        string metadata = """{"@collection":"Cats","@expires":"2026-01-01T00:01:00Z"}""";
        _node.Put("db", "b", $$"""{"n":"{{noise}}","@metadata":{{metadata}}}""");
        _node.Put("db", "c", """{"@metadata":{"@collection":"Cats"}}""");
        _node.Put("db", "d", """{"@metadata":{"@collection":"Cats","@expires":"2026-01-01T00:01:00.0000001Z"}}""");
    }

    public void Dispose() => _node.Dispose();

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_client_finds_a_document_until_the_moment_it_expires(bool isFlushed)
    {
        if (isFlushed)
        {
            _node.Flush();
        }

        _time.Advance(TimeSpan.FromMinutes(1) - TimeSpan.FromTicks(1));
        AssertFound("a", "b", "c", "d");
        _time.Advance(TimeSpan.FromTicks(1));
        AssertFound("c", "d");
        _time.Advance(TimeSpan.FromTicks(1));
        AssertFound("c");
    }

    [Fact]
    public void A_reader_finds_the_same_documents_as_long_as_it_is_open()
    {
        using var reader = _node.Database("db").OpenReader();
        _time.Advance(TimeSpan.FromMinutes(2));
        Assert.Equal(["a", "b", "c", "d"], Ids(reader.SeekByIdPrefix([])));
        Assert.True(reader.TryGetDocument("a"u8, out var document));
        document.Dispose();
        AssertFound("c");
    }

    [Fact]
    public void A_disabled_configuration_keeps_documents()
    {
        _time.Advance(TimeSpan.FromMinutes(2));
        AssertFound("c");
        uint database = _node.Database("db").Number;
        _node.Run(
            CommandEncoder.SetConfiguration(database, ConfigurationName.Expiration, """{"Disabled":true}"""u8.ToArray())
        );
        AssertFound("a", "b", "c", "d");
    }

    [Fact]
    public void Nothing_expires_while_the_time_is_in_doubt()
    {
        _isSure = false;
        _time.Advance(TimeSpan.FromMinutes(2));
        AssertFound("a", "b", "c", "d");
    }

    [Fact]
    public void Background_work_finds_documents_until_they_are_removed()
    {
        _time.Advance(TimeSpan.FromMinutes(2));
        using var reader = _node.Database("db").OpenBackgroundReader();
        Assert.Equal(["a", "b", "c", "d"], Ids(reader.SeekByIdPrefix([])));
        Assert.True(reader.TryGetDocument("A"u8, out var document));
        document.Dispose();
    }

    [Fact]
    public void Documents_that_expired_are_not_counted_when_documents_are_skipped()
    {
        _time.Advance(TimeSpan.FromMinutes(1));
        using var reader = _node.Database("db").OpenReader();
        using var cursor = reader.SeekByIdPrefix([]);
        Assert.Equal(1, cursor.Skip(1));
        Assert.True(cursor.MoveNext());
        Assert.Equal("d", Encoding.UTF8.GetString(cursor.Head.Id));
    }

    private void AssertFound(params string[] ids)
    {
        using var reader = _node.Database("db").OpenReader();
        Assert.Equal(ids, Ids(reader.SeekByIdPrefix([])));
        Assert.Equal(ids, Ids(reader.SeekByEtag(0)));
        Assert.Equal(ids, Ids(reader.SeekByCollection("Cats"u8)));
        foreach (string id in (string[])["a", "b", "c", "d"])
        {
            bool exists = reader.TryGetDocument(Encoding.UTF8.GetBytes(id), out var document);
            document.Dispose();
            Assert.Equal(ids.Contains(id, StringComparer.Ordinal), exists);
        }
    }

    private static List<string> Ids(DocumentCursor cursor)
    {
        using (cursor)
        {
            var ids = new List<string>();
            while (cursor.MoveNext())
            {
                ids.Add(Encoding.UTF8.GetString(cursor.Head.Id));
            }

            return ids;
        }
    }
}
