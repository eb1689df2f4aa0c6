using Rookery.Cluster.Identity;
using Rookery.Cluster.Joining;
using Rookery.Documents.Nodes;
using Rookery.Platform;

namespace Rookery.Cluster.Forming;

/// <summary>
/// The join of a node that a founder admitted to its newly formed cluster. Runs while the node is stopped: moves the
/// old identity aside, and joins with the stored token. Can be repeated after a power cut at any point.
/// </summary>
/// <param name="Token">The token that admits the node.</param>
/// <param name="NodeName">The node's name.</param>
public sealed record FormedJoin(JoinToken Token, string NodeName)
{
    /// <summary>Returns the pending join of a data directory; null when no founder admitted its node.</summary>
    /// <exception cref="IdentityException">The forming note cannot be read.</exception>
    public static FormedJoin? Find(IDisk disk, string dataDirectory) =>
        FormingNote.Read(disk, dataDirectory) is { Step: FormingStep.Admitted } note
        && JoinToken.TryParse(note.Token!, out var token)
            ? new FormedJoin(token, note.Name!)
            : null;

    /// <summary>Moves the old identity aside, unless the node has joined already.</summary>
    /// <returns>Why the old identity is kept, in sentences; the node then forms no cluster any more. Null when it may
    /// join.</returns>
    /// <exception cref="IOException">The data directory is in use, or cannot be read.</exception>
    public string? Begin(IDisk disk, NodeOptions options, MemoryBudget memory, IIoRecorder io, TimeProvider time)
    {
        if (
            IsDone(disk, options.DataDirectory)
            || UnclaimedNode.MoveAside(disk, options, Token.ClusterId, memory, io, time) is not { } reason
        )
        {
            return null;
        }

        new FormingNote(FormingStep.Out)
        {
            Why = $"A founder admitted this node to its new cluster, but the node did not join. {reason}",
        }.Write(disk, options.DataDirectory);
        return reason;
    }

    /// <summary>
    /// Joins the cluster. Does nothing when the node has joined already, or when the operator made it join with another
    /// token.
    /// </summary>
    /// <param name="disk">The disk.</param>
    /// <param name="dataDirectory">The node's data directory.</param>
    /// <param name="addresses">Addresses of members in addition to those in the token.</param>
    /// <param name="node">The joining node.</param>
    /// <param name="time">The clock.</param>
    /// <param name="cancellationToken">Cancels the join.</param>
    /// <exception cref="JoinException">The join failed and may be repeated.</exception>
    public async Task CompleteAsync(
        IDisk disk,
        string dataDirectory,
        IReadOnlyList<string> addresses,
        JoiningNode node,
        TimeProvider time,
        CancellationToken cancellationToken
    )
    {
        using var directoryHold = StoppedDirectory.Hold(disk, dataDirectory);
        if (Find(disk, dataDirectory) is null)
        {
            return;
        }

        UnclaimedNode.Clear(disk, dataDirectory, directoryHold, NodeIds.FormingName);
        if (!IsDone(disk, dataDirectory))
        {
            await new JoinClient(
                Token with
                {
                    Addresses = [.. Token.Addresses.Union(addresses, StringComparer.Ordinal)],
                },
                node,
                time
            ).JoinAsync(disk, dataDirectory, cancellationToken);
        }

        JoinAttempt.Forget(disk, dataDirectory);
        FormingNote.Forget(disk, dataDirectory);
    }

    private bool IsDone(IDisk disk, string dataDirectory)
    {
        using var identity = IdentityDirectory.TryLoad(disk, dataDirectory);
        return string.Equals(identity?.ClusterId, Token.ClusterId, StringComparison.Ordinal);
    }
}
