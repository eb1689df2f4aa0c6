namespace Rookery.Storage.Install;

/// <summary>
/// A fetched snapshot cannot be installed: it is incomplete, damaged, of a newer version, or older than the applied
/// state. Nothing changed.
/// </summary>
/// <param name="message">One sentence.</param>
/// <param name="file">The file at fault; null if it is not a single file.</param>
public sealed class ReceivedStateException(string message, string? file = null) : IOException(message)
{
    /// <summary>Path of the damaged or missing file; null if it is not a single file.</summary>
    public string? File { get; } = file;
}

/// <summary>
/// Writing a manifest with an installed snapshot failed, and writing the previous manifest again failed too. Only the
/// next start shows which one is in force. Until then this node must acknowledge nothing, because that start may find
/// the snapshot and discard the journal.
/// </summary>
/// <param name="refused">Why the new manifest could not be written.</param>
/// <param name="again">Why the previous manifest could not be written again.</param>
public sealed class StateInDoubtException(Exception refused, Exception again)
    : IOException(
        $"The manifest of an installed state could not be written ({refused.Message.TrimEnd('.')}), and the "
            + $"previous manifest could not be restored ({again.Message.TrimEnd('.')}). Correct the cause and start "
            + $"the node again: the start determines which state is in force.",
        refused
    );
