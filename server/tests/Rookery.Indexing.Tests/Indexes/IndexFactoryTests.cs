using Rookery.Fixtures;
using Rookery.Indexing.Automatic;
using Rookery.Search.Segments.Format;

namespace Rookery.Indexing.Tests.Indexes;

/// <summary>Indexes whose files cannot be used when they are opened.</summary>
public sealed class IndexFactoryTests
{
    private static readonly AutoIndexDefinition ByName = new(
        "Users",
        [new AutoIndexField(["name"], AutoIndexFieldUses.None)]
    );

    /// <summary>Reading them throws another exception than reading files whose checksum does not match.</summary>
    [Fact]
    public void An_index_whose_files_pass_their_checksums_and_cannot_be_decoded_is_rebuilt()
    {
        int failures = 1;
        using var node = IndexedNode.New(wrapStore: store =>
        {
            if (failures-- > 0)
            {
                store.Dispose();
                throw SegmentFormat.Malformed();
            }

            return store;
        });
        node.Put("users/1", "\"name\":\"a\"");
        node.Define("a", ByName);
        node.SettleAll();
        Assert.Contains("is rebuilt: ", Assert.Single(node.Troubles), StringComparison.Ordinal);
        node.Check("a", ByName);
    }

    [Fact]
    public void Attempts_to_open_an_index_that_fail_leave_it_its_place()
    {
        int failures = 0;
        using var node = IndexedNode.New(wrapStore: store =>
        {
            if (failures-- > 0)
            {
                store.Dispose();
                throw SegmentFormat.Malformed();
            }

            return store;
        });
        node.Put("users/1", "\"name\":\"a\"");
        node.Define("a", ByName);
        for (int attempt = 0; attempt <= node.Host.Quota.MaxAutomatic; attempt++)
        {
            // Opening fails also after the files were deleted.
            failures = 2;
            Assert.Throws<InvalidDataException>(() => node.Step());
        }

        failures = 0;
        node.SettleAll();
        node.Check("a", ByName);
    }
}
