namespace Rookery.Storage.Install;

/// <summary>
/// A state that was fetched is not one that can be installed: incomplete, damaged, of a newer version, or behind what
/// is applied here. Nothing changed.
/// </summary>
/// <param name="message">One sentence.</param>
/// <param name="file">The one file that is at fault; null when it is not one alone.</param>
public sealed class ReceivedStateException(string message, string? file = null) : IOException(message)
{
    /// <summary>The path of the file that is damaged or missing; null when it is not one alone.</summary>
    public string? File { get; } = file;
}

/// <summary>
/// The write of a manifest with an installed state failed, and so did the next one. Which state counts shows at the
/// next start; until then this node must acknowledge nothing, because that start may find the installed state and a
/// journal that it replaces.
/// </summary>
/// <param name="refused">Why the manifest could not be written.</param>
/// <param name="again">Why the one before could not be put in its place.</param>
public sealed class StateInDoubtException(Exception refused, Exception again)
    : IOException(
        $"The manifest of an installed state could not be written ({refused.Message.TrimEnd('.')}) and not "
            + $"be taken back ({again.Message.TrimEnd('.')}). Put the cause right and start the node again: it "
            + $"finds out which state counts.",
        refused
    );
