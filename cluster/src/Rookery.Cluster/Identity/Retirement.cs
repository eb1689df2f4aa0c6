namespace Rookery.Cluster.Identity;

/// <summary>
/// A retirement note in the identity directory. It keeps the node out of its cluster until the operator has inspected
/// the data and deletes the note.
/// </summary>
/// <param name="Cause">The kind of cause.</param>
/// <param name="Why">The finding, in sentences.</param>
public sealed record Retirement(RetirementCause Cause, string Why)
{
    /// <summary>Returns the finding and what to do, in sentences.</summary>
    /// <param name="identity">The identity of the node.</param>
    /// <param name="dataDirectory">The data directory of the node.</param>
    public string Explain(NodeIdentity identity, string dataDirectory)
    {
        string note = IdentityDirectory.NotePathIn(dataDirectory, Cause);
        return Cause == RetirementCause.Excluded
            ? $"The cluster refused this node's data for good: {Why} This node no longer takes part. If its data "
                + $"are the ones to keep, stop the other members for good, delete {note}, and start this node again."
            : $"{Why} This node does not take part again by itself. {NextStep(identity, note)} If you know what "
                + $"happened and want to use its data all the same, delete {note} and start the node again.";
    }

    private static string NextStep(NodeIdentity identity, string note) =>
        identity.Peers.Count == 0
            ? "No other member has its data: keep the data directory, stop the node and run `rookery export` on it, "
                + "or restore a backup to an empty data directory."
            : $"If all members say that they stopped, delete {note} on each, and start them again. "
                + $"If the others run, start a node with an empty data directory in its place, and let it join with "
                + $"the token that `rookery cluster node replace {identity.NodeName}` prints on one of them.";
}
