using Rookery.Documents.Records;

namespace Rookery.Cluster.Joining;

/// <summary>
/// The seats of a cluster: one for each member, with its name, node id and tag, which no other member may have.
/// </summary>
internal sealed class Seats
{
    /// <summary>
    /// The key of a record that changes whenever a seat is assigned or given up, or a member announces itself. So if
    /// two seats are assigned concurrently, one assignment fails and must be repeated.
    /// </summary>
    public const string Key = ClusterRecordPrefix.Desired + "seats";

    private readonly (string NodeId, MemberRecord Record, long Version)[] _members;
    private readonly long _version;

    /// <summary>Reads the current seats.</summary>
    public Seats(IJoinRecordStore recordStore)
    {
        _version = recordStore.Find(Key)?.Version ?? ClusterRecord.Absent;
        _members = [.. MemberRecord.All(recordStore)];
    }

    /// <summary>The first free tag, A to Z; null when all are taken.</summary>
    public string? FreeTag =>
        Enumerable
            .Range('A', 26)
            .Select(letter => ((char)letter).ToString())
            .FirstOrDefault(tag => !Array.Exists(_members, member => IsSame(member.Record.Tag, tag)));

    /// <summary>Returns the seat of a node, or null.</summary>
    public MemberRecord? Of(string nodeId) => Array.Find(_members, member => IsSame(member.NodeId, nodeId)).Record;

    /// <summary>
    /// Returns a record change that fails if the record of <see cref="Key"/> has changed since this object was made.
    /// </summary>
    public RecordChange Guard() => new(Key, [], _version);

    /// <summary>Returns why a node cannot have the requested seat, or null.</summary>
    public JoinRefusal? Judge(JoinRequest request)
    {
        if (Of(request.NodeId) is { } taken)
        {
            return new JoinRefusal(
                JoinError.IdTaken,
                $"Node {taken.Name} ({taken.Tag}) is a member already, with another key: this is a copy of "
                    + $"it, or has lost its identity. Let it join with an empty data directory, and remove the old "
                    + $"one with `rookery cluster node rm {taken.Name}`."
            );
        }

        if (Array.Find(_members, member => IsSame(member.Record.Name, request.Name)) is { Record: not null } named)
        {
            return new JoinRefusal(
                JoinError.NameTaken,
                $"There is a node named {request.Name} already (letter {named.Record.Tag}). Choose another "
                    + $"name with --name; if that node is gone for good, remove it first with `rookery cluster node rm "
                    + $"{request.Name}`."
            );
        }

        return FreeTag is null
            ? new JoinRefusal(
                JoinError.TooManyMembers,
                "All letters from A to Z are taken by members. Remove one first with `rookery cluster node rm`."
            )
            : null;
    }

    private static bool IsSame(string first, string second) => string.Equals(first, second, StringComparison.Ordinal);
}
