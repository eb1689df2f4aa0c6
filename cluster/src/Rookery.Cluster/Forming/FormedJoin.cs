using Rookery.Cluster.Identity;
using Rookery.Cluster.Joining;
using Rookery.Documents.Nodes;
using Rookery.Platform;

namespace Rookery.Cluster.Forming;

/// <summary>
/// The way of a node that a founder let in, while it is stopped: it gives its old identity up and joins with the token
/// that it noted. After a power cut anywhere it goes on.
/// </summary>
/// <param name="Token">What lets it in.</param>
/// <param name="NodeName">What it is called.</param>
public sealed record FormedJoin(JoinToken Token, string NodeName)
{
    /// <summary>What is to be done in a data directory; null when no founder let its node in.</summary>
    /// <exception cref="IdentityException">What the node has bound itself to cannot be read.</exception>
    public static FormedJoin? In(IDisk disk, string dataDirectory) =>
        FormingNote.Read(disk, dataDirectory) is { Step: FormingStep.Admitted } note
        && JoinToken.TryParse(note.Token!, out var token)
            ? new FormedJoin(token, note.Name!)
            : null;

    /// <summary>Gives the old identity up.</summary>
    /// <returns>Why it is kept, in sentences; it takes no part from then on. Null when it may join.</returns>
    /// <exception cref="IOException">The data directory is in use, or cannot be read.</exception>
    public string? Begin(IDisk disk, NodeOptions options, MemoryBudget memory, IIoRecorder io, TimeProvider time)
    {
        if (
            IsDone(disk, options.DataDirectory)
            || UnclaimedNode.PutAway(disk, options, Token.ClusterId, memory, io, time) is not { } kept
        )
        {
            return null;
        }

        new FormingNote(FormingStep.Out)
        {
            Why = $"This node was let into a cluster that others formed, and did not join it. {kept}",
        }.Write(disk, options.DataDirectory);
        return kept;
    }

    /// <summary>
    /// Joins; nothing is left to do when it has, or when its owner had it join with another token meanwhile.
    /// </summary>
    /// <param name="disk">The disk.</param>
    /// <param name="dataDirectory">Its data directory.</param>
    /// <param name="addresses">Where members are, beside those that the token names.</param>
    /// <param name="node">How it joins.</param>
    /// <param name="time">The clock.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="JoinException">It could not, and may try again.</exception>
    public async Task CompleteAsync(
        IDisk disk,
        string dataDirectory,
        IReadOnlyList<string> addresses,
        JoiningNode node,
        TimeProvider time,
        CancellationToken cancellationToken
    )
    {
        using var held = StoppedDirectory.Hold(disk, dataDirectory);
        if (In(disk, dataDirectory) is null)
        {
            return;
        }

        UnclaimedNode.Clear(disk, dataDirectory, held, NodeIds.FormingName);
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
