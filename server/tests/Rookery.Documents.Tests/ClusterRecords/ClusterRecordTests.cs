using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Records;
using Rookery.Documents.Tests.Backups;
using Rookery.Documents.Tests.Nodes;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.ClusterRecords;

/// <summary>
/// Records that the whole cluster shares: members, credentials, settings. The version of each is the etag that stored
/// it; 0 stands for a record that does not exist.
/// </summary>
public class ClusterRecordTests
{
    private readonly SimulatedDisk _disk = new("/data", "/backups");

    [Fact]
    public void A_record_is_found_by_key_and_by_prefix_with_the_etag_that_stored_it_as_its_version()
    {
        using var node = Open();
        long first = Set(node, "member/b", "two");
        Set(node, "member/a", "one");
        Set(node, "members", "another prefix");

        Assert.True(node.Core.ClusterRecords.TryGet("member/b", out var record));
        Assert.Equal(("member/b", "two", first), (record.Key, TextOf(record), record.Version));
        Assert.Equal(["member/a", "member/b"], KeysOf(node, ClusterRecordPrefix.Member));
        Assert.Equal(["member/a", "member/b", "members"], KeysOf(node, ""));
        Assert.False(node.Core.ClusterRecords.TryGet("member/", out _));
        Assert.False(node.Core.ClusterRecords.TryGet("no key\n", out _));
    }

    [Fact]
    public void A_change_that_expects_another_version_is_refused_with_the_actual_version()
    {
        using var node = Open();
        long first = Set(node, "desired/size", "1", ClusterRecord.Absent);
        var refused = Propose(node, writer => writer.Set("desired/size", "2"u8, ClusterRecord.Absent)).Rejection;
        Assert.Equal(
            (RejectionKind.ConcurrencyConflict, "0", $"{first}", 0),
            (refused!.Kind, refused.Expected, refused.Actual, refused.Operation)
        );

        long second = Set(node, "desired/size", "2", first);
        Assert.True(second > first);
        Assert.Equal($"{second}", Propose(node, writer => writer.Delete("desired/size", first)).Rejection?.Actual);
        Assert.Null(Propose(node, writer => writer.Delete("desired/size", second)).Rejection);
        Assert.Equal("0", Propose(node, writer => writer.Set("desired/size", "3"u8, second)).Rejection?.Actual);
        Assert.Empty(KeysOf(node, ""));
    }

    [Fact]
    public void Several_records_are_changed_atomically_and_only_a_stored_change_raises_the_revision()
    {
        using var node = Open();
        long a = Set(node, "a", "1");
        Set(node, "b", "1");
        long revision = node.Core.ClusterRecords.Revision;

        var refused = Propose(
            node,
            writer =>
            {
                writer.Set("a", "2"u8, a);
                writer.Delete("b");
                writer.Set("c", Encoding.ASCII.GetBytes(new string('x', ClusterRecord.MaxValueBytes)));
                // Refused, because the record does not exist.
                writer.Set("d", "2"u8, expectedVersion: 77);
            }
        );
        Assert.Equal(3, refused.Rejection?.Operation);
        Assert.Equal(
            [("a", "1"), ("b", "1")],
            node.Core.ClusterRecords.List("").Select(record => (record.Key, TextOf(record)))
        );
        Assert.Equal(revision, node.Core.ClusterRecords.Revision);

        var stored = Propose(
            node,
            writer =>
            {
                writer.Set("a", "2"u8, a);
                writer.Delete("b");
                writer.Delete("none");
            }
        );
        Assert.Equal(
            [OperationStatus.Configured, OperationStatus.Deleted, OperationStatus.NotFound],
            Enumerable.Range(0, 3).Select(i => stored[i].Status)
        );
        Assert.NotEqual(revision, node.Core.ClusterRecords.Revision);
    }

    [Fact]
    public void Records_of_any_length_survive_a_restart_from_runs_and_from_the_journal()
    {
        string longest = new('v', ClusterRecord.MaxValueBytes);
        string key = new('k', ClusterRecord.MaxKeyBytes);
        using (var node = Open())
        {
            Set(node, key, longest);
            Set(node, "flushed", "1");
            node.Flush();
            Set(node, "flushed", longest);
            Set(node, "empty", "");
        }

        using var again = Open();
        Assert.Equal(
            [("empty", ""), ("flushed", longest), (key, longest)],
            again.Core.ClusterRecords.List("").Select(record => (record.Key, TextOf(record)))
        );
    }

    [Fact]
    public void Records_are_changed_when_space_is_low()
    {
        using var node = SteppedNode.Open(
            _disk,
            SteppedNode.Options("/data/node") with
            {
                Reserve = new ReserveRule(Bytes: 1L << 60, Fraction: 0),
            }
        );
        Assert.Equal(
            RejectionKind.InsufficientSpace,
            node.Propose(CommandEncoder.CreateDatabase("Shop", HistoryId.Create())).Rejection?.Kind
        );
        // A cluster must be able to change its members on a full disk.
        Set(node, "member/a", "1");
    }

    /// <summary>
    /// A restored cluster begins with one new voter. Records of clients are kept, those of members are dropped.
    /// </summary>
    [Fact]
    public void A_restored_node_keeps_its_clients_and_drops_its_members()
    {
        using var node = BackedUp.NewNode(_disk, documents: 4);
        string[] keys = ["access/1", "authority/key", "certificate/1", "desired/members", "member/a", "token/1"];
        foreach (string key in keys)
        {
            Set(node, key, key);
        }

        BackedUp.Take(node, _disk);
        BackedUp.Restore(_disk);
        using var restored = SteppedNode.Open(_disk, BackedUp.Restored);
        Assert.Equal(["access/1", "certificate/1"], KeysOf(restored, ""));
        Assert.Equal(keys, KeysOf(node, ""));
    }

    [Fact]
    public void The_encoding_of_a_command_is_stable()
    {
        using var writer = new ClusterRecordWriter();
        writer.Set("a/1", "xyz"u8, expectedVersion: 258);
        writer.Set("b", "!"u8);
        writer.Delete("c");
        using var command = writer.Complete();
        Assert.Equal(
            "020D000000000003000000" // header
                + "030201000000000000"
                + "03612F31"
                + "0378797A" // set: expected version, key, value
                + "01"
                + "0162"
                + "0121" // set: any version, key, value
                + "00"
                + "0163", // delete: any version, key
            Convert.ToHexString(command.Written.Span)
        );
    }

    private static CommandOutcome Propose(SteppedNode node, Action<ClusterRecordWriter> change)
    {
        using var writer = new ClusterRecordWriter();
        change(writer);
        return node.Propose(writer.Complete());
    }

    // Stores a record and returns its version.
    private static long Set(SteppedNode node, string key, string value, long? expected = null)
    {
        var outcome = Propose(node, writer => writer.Set(key, Encoding.ASCII.GetBytes(value), expected));
        Assert.Null(outcome.Rejection);
        return outcome[0].Etag;
    }

    private SteppedNode Open() => SteppedNode.Open(_disk, "/data/node");

    private static IEnumerable<string> KeysOf(SteppedNode node, string prefix) =>
        node.Core.ClusterRecords.List(prefix).Select(record => record.Key);

    private static string TextOf(ClusterRecord record) => Encoding.ASCII.GetString(record.Value.Span);
}
