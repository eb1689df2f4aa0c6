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
            ? $"The cluster refused this node's data for good, and they take no part any more: {Why} If they "
                + $"are the ones to keep, stop the others for good, delete {note}, and start this node again."
            : $"{Why} It takes no part again by itself. {NextStep(identity, note)} If you have looked at what "
                + $"happened and its data are to be used all the same, delete {note} and start it again.";
    }

    private static string NextStep(NodeIdentity identity, string note) =>
        identity.Peers.Count == 0
            ? "It has no other member that could give its data back: keep them, stop the node and export from "
                + "them with `rookery export`, or restore a backup to an empty data directory."
            : $"If all members say that they stopped, delete {note} on each, and start them again. "
                + $"If the others go on, let another, empty card join in its place, with the token that "
                + $"`rookery cluster node replace {identity.NodeName}` prints on one of them.";
}
