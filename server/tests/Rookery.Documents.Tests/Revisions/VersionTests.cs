using System.Text;
using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Documents.Parsing;
using Rookery.Documents.Revisions;

namespace Rookery.Documents.Tests.Revisions;

/// <summary>Versions of dumps: documents and revisions with times of their own.</summary>
public sealed class VersionTests : IDisposable
{
    private const long Day = TimeSpan.TicksPerDay;
    private static readonly long Start = new DateTime(2020, 1, 1, 0, 0, 0, DateTimeKind.Utc).Ticks;

    private readonly RevisedNode _node = new();

    public void Dispose() => _node.Dispose();

    [Fact]
    public void Revisions_of_a_dump_are_below_their_document_in_their_order_and_a_second_import_adds_none()
    {
        PutVersion("users/1", Start + (3 * Day), """{"n":3}""");
        for (int i = 0; i < 2; i++)
        {
            long skipped = Import(
                "users/1",
                (Start + Day, 0, "{\"n\":1}"),
                (Start + (2 * Day), 0, "{\"n\":2}"),
                (Start + (3 * Day), 0, "{\"n\":3}")
            );
            Assert.Equal(i == 0 ? 0 : 3, skipped);
            Assert.Equal(["\"n\":3", "\"n\":2", "\"n\":1"], _node.Bodies("users/1"));
            Assert.Equal(3, _node.Total());
            Assert.Equal(_node.Etag("users/1"), _node.Read("users/1")[0].Etag);
            Assert.Contains("2020-01-04T", _node.Json("users/1"), StringComparison.Ordinal);
        }

        _node.Restart();
        Assert.Equal(["\"n\":3", "\"n\":2", "\"n\":1"], _node.Bodies("users/1"));
        Assert.Contains("2020-01-02T", _node.Read("users/1")[2].Json, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Revisions_with_the_same_time_are_all_stored_and_not_twice(bool isConfigured)
    {
        if (isConfigured)
        {
            _node.Configure(new RevisionRule());
        }

        PutVersion("users/1", Start, """{"n":3}""");
        for (int i = 0; i < 2; i++)
        {
            long skipped = Import(
                "users/1",
                (Start, 0, "{\"n\":1}"),
                (Start, 1, "{\"n\":2}"),
                (Start, 2, "{\"n\":3}"),
                (Start, 3, "{\"n\":3}")
            );
            // With a configuration, the document itself is one of them from the start.
            Assert.Equal(
                i > 0 ? 4
                    : isConfigured ? 1
                    : 0,
                skipped
            );
            Assert.Equal(["\"n\":3", "\"n\":3", "\"n\":2", "\"n\":1"], _node.Bodies("users/1"));
        }
    }

    [Fact]
    public void Many_small_revisions_of_a_large_document_are_stored_in_one_command()
    {
        string large = $$"""{"text":"{{new string('x', 4 << 20)}}"}""";
        PutVersion("users/1", Start + (99 * Day), large);
        var small = Enumerable.Range(0, 40).Select(static i => (Start + (i * Day), 0u, $$"""{"n":{{i}}}""")).ToArray();
        Assert.Equal(0, Import("users/1", small));
        Assert.Equal(40, _node.Total());
        Assert.Equal("\"n\":39", _node.Bodies("users/1")[0]);
    }

    [Fact]
    public void A_long_chain_of_differences_is_stored_whole_once_before_many_revisions()
    {
        _node.Configure(new RevisionRule());
        string text = new('x', 300_000);
        for (int i = 0; i < RevisionRows.MaxDepth + 1; i++)
        {
            _node.Put("users/1", $$"""{"n":{{i}},"text":"{{text}}"}""");
        }

        string[] before = _node.Bodies("users/1");
        var later = Enumerable
            .Range(0, 60)
            .Select(i => (_node.Time.GetUtcNow().UtcTicks + ((i + 1) * Day), 0u, $$"""{"later":{{i}}}"""))
            .ToArray();
        Assert.Equal(0, Import("users/1", later));
        string[] after = _node.Bodies("users/1");
        Assert.Equal(before[0], after[0]);
        Assert.Equal("\"later\":59", after[1]);
        Assert.Equal(before[1..], after[61..]);
    }

    [Fact]
    public void Counters_of_a_revision_are_found_after_a_revert_whatever_their_order_in_the_dump()
    {
        using var parts = new VersionParts();
        // By UTF-16, the second is before the first: a surrogate pair is before U+FF21, whose lower case is U+FF41.
        parts.AddCounters([(Utf8("Ａ"), 1), (Utf8("😀"), 2), (Utf8("b"), 3), (Utf8("B"), 9)]);
        PutVersion("users/1", Start + Day, """{"n":2}""");
        Import("users/1", parts, (Start, 0, "{\"n\":1}"));
        long oldest = _node.Read("users/1")[^1].Etag;
        Assert.Null(_node.Act("users/1", RevisionAction.Revert, oldest).Rejection);
        Assert.Null(
            _node
                .Batch(
                    """
                    {"Id":"users/1","Type":"Counters","Counters":{"DocumentId":"users/1","Operations":[
                    {"Type":"Increment","CounterName":"ａ","Delta":10},{"Type":"Increment","CounterName":"😀","Delta":10},
                    {"Type":"Increment","CounterName":"b","Delta":10}]}}
                    """
                )
                .Rejection
        );
        using var reader = _node.Node.Database("db").OpenReader();
        Assert.Equal(11, reader.ReadCounter(Utf8("users/1"), Utf8("Ａ"), out _));
        Assert.Equal(12, reader.ReadCounter(Utf8("users/1"), Utf8("😀"), out _));
        Assert.Equal(13, reader.ReadCounter(Utf8("users/1"), Utf8("b"), out _));
        Assert.Equal(3, reader.ReadStatistics().DocumentCounters);
    }

    [Fact]
    public void Revisions_of_a_deleted_document_are_in_the_bin_until_it_is_stored_again()
    {
        using (var writer = new BatchWriter(CommandKind.BulkPut, _node.Database))
        using (var parts = new VersionParts())
        {
            Add(writer, "gone/1", VersionKind.Revision, Start, 0, "{\"n\":1}", parts);
            Add(writer, "gone/1", VersionKind.Deletion, Start + Day, 0, "{}", parts);
            writer.Restate(Utf8("gone/1"), ticks: 0);
            _node.Node.Run(writer.Complete());
        }

        Assert.Equal(["-", "\"n\":1"], _node.Bodies("gone/1"));
        long before = long.MaxValue;
        using (var reader = _node.Node.Database("db").OpenReader())
        using (var revisions = new RevisionReader(reader))
        {
            Assert.True(revisions.TryMoveToDeletion(ref before));
        }

        _node.Put("gone/1", "{\"n\":2}");
        before = long.MaxValue;
        using (var reader = _node.Node.Database("db").OpenReader())
        using (var revisions = new RevisionReader(reader))
        {
            Assert.False(revisions.TryMoveToDeletion(ref before));
        }
    }

    private static byte[] Utf8(string text) => Encoding.UTF8.GetBytes(text);

    private static void Add(
        BatchWriter writer,
        string id,
        VersionKind kind,
        long ticks,
        uint ordinal,
        string json,
        VersionParts parts
    )
    {
        using var parser = DocumentParser.Rent();
        Assert.True(parser.TryParse(Utf8(json), out var document, out _));
        writer.PutRevision(Utf8(id), kind, ticks, ordinal, document, parts, isForced: false);
    }

    private void PutVersion(string id, long ticks, string json)
    {
        using var writer = new BatchWriter(CommandKind.BulkPut, _node.Database);
        using var parser = DocumentParser.Rent();
        Assert.True(parser.TryParse(Utf8(json), out var document, out _));
        writer.PutVersion(Utf8(id), ticks, document);
        _node.Node.Run(writer.Complete());
    }

    // Returns the number of revisions that were there already.
    private long Import(string id, params (long Ticks, uint Ordinal, string Json)[] revisions)
    {
        using var parts = new VersionParts();
        return Import(id, parts, revisions);
    }

    private long Import(string id, VersionParts parts, params (long Ticks, uint Ordinal, string Json)[] revisions)
    {
        using var writer = new BatchWriter(CommandKind.BulkPut, _node.Database);
        foreach (var (ticks, ordinal, json) in revisions)
        {
            Add(writer, id, VersionKind.Revision, ticks, ordinal, json, parts);
        }

        writer.Restate(Utf8(id), ticks: 0);
        var outcome = _node.Node.Propose(writer.Complete());
        Assert.Null(outcome.Rejection);
        return outcome[0].High;
    }
}
