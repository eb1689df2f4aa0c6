using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Parsing;
using Rookery.Documents.Tests.Nodes;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Databases;

/// <summary>
/// Cursors over the documents of a prefix or a collection. An id has at most 512 bytes, also when it is lower-cased:
/// Ⱥ has two bytes then, and its lower-case form ⱥ three.
/// </summary>
public sealed class DocumentCursorTests : IDisposable
{
    private static readonly byte[] LongestId = Encoding.UTF8.GetBytes("xx" + new string('ⱥ', 170));
    private static readonly byte[] LongestPrefix = Encoding.UTF8.GetBytes("xx" + new string('Ⱥ', 170));

    // Has 512 bytes, and lower-cased 767, of which the first 512 are those of the longest id.
    private static readonly byte[] LongerPrefix = Encoding.UTF8.GetBytes("xx" + new string('Ⱥ', 255));

    private readonly SteppedNode _node = SteppedNode.Open(new SimulatedDisk(), "/data");

    public DocumentCursorTests() => _node.CreateDatabase("db");

    public void Dispose() => _node.Dispose();

    [Fact]
    public void A_prefix_that_is_longer_than_ids_when_lower_cased_matches_no_document()
    {
        _node.Put("db", Encoding.UTF8.GetString(LongestId), "{}");
        using var reader = _node.Database("db").OpenReader();
        Assert.Equal(1, Count(reader.SeekByIdPrefix(LongestPrefix)));
        Assert.Equal(0, Count(reader.SeekByIdPrefix(LongerPrefix)));
        Assert.Equal(0, Count(reader.SeekByIdPrefix(new byte[2000])));
        // As a position in the order of ids, it is after the longest id.
        Assert.Equal(0, Count(reader.SeekByIdPrefix("x"u8, startAfter: LongerPrefix)));
        Assert.Equal(1, Count(reader.SeekByIdPrefix("x"u8, startAfter: "xx"u8)));
    }

    [Fact]
    public void A_prefix_that_is_longer_than_keys_when_lower_cased_matches_no_compare_exchange_value()
    {
        using (var writer = new BatchWriter(CommandKind.ClusterTransaction, _node.Database("db").Number))
        {
            writer.PutCompareExchange(LongestId, 0, new ParsedDocument { BodyHead = "\"Object\":1"u8 });
            Assert.Null(_node.Propose(writer.Complete()).Rejection);
        }

        using var reader = _node.Database("db").OpenReader();
        Assert.Equal(1, Count(reader.SeekCompareExchange(LongestPrefix)));
        Assert.Equal(0, Count(reader.SeekCompareExchange(LongerPrefix)));
    }

    [Fact]
    public void A_name_that_is_longer_than_those_of_collections_matches_no_document()
    {
        string longest = new('c', DocumentLimits.MaxCollectionBytes);
        _node.Put("db", "a", $$$"""{"@metadata":{"@collection":"{{{longest}}}"}}""");
        using var reader = _node.Database("db").OpenReader();
        Assert.Equal(1, Count(reader.SeekByCollection(Encoding.UTF8.GetBytes(longest))));
        Assert.Equal(0, Count(reader.SeekByCollection(Encoding.UTF8.GetBytes(longest + "c"))));
    }

    private static long Count(DocumentCursor cursor)
    {
        using (cursor)
        {
            long count = 0;
            while (cursor.MoveNext())
            {
                count++;
            }

            return count;
        }
    }
}
