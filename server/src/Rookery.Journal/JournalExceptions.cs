namespace Rookery.Journal;

/// <summary>
/// An earlier write or sync of this journal failed. It acknowledges nothing more until the node was restarted and has
/// recovered.
/// </summary>
public sealed class JournalLatchedException : IOException
{
    /// <summary>Says why the journal takes no more writes.</summary>
    public JournalLatchedException(string sentence, Exception? cause)
        : base(sentence, cause) { }
}

/// <summary>
/// Bytes of the journal that a sync had made durable cannot be read back. The message names the file, the offset, what
/// would be lost and what to do. Nothing was changed on disk.
/// </summary>
public sealed class JournalDamagedException : IOException
{
    /// <summary>Describes the damage in <paramref name="file"/> from <paramref name="offset"/> on.</summary>
    public JournalDamagedException(string sentence, string file, long offset)
        : base(sentence)
    {
        File = file;
        Offset = offset;
    }

    /// <summary>The path of the damaged or missing file.</summary>
    public string File { get; }

    /// <summary>The first byte that cannot be trusted.</summary>
    public long Offset { get; }
}

/// <summary>
/// The journal was written by a newer Rookery, or belongs to another store. Nothing was changed on disk.
/// </summary>
public sealed class JournalFormatException : IOException
{
    /// <summary>Says what was found, where, and what this program can read.</summary>
    public JournalFormatException(string sentence)
        : base(sentence) { }
}

/// <summary>The journal belongs to another store than the one it was opened for. Nothing was changed on disk.</summary>
/// <param name="file">A segment that says so.</param>
public sealed class ForeignJournalException(string file)
    : IOException(
        $"{file} is the journal of another data directory. Nothing was changed. Name the directory in which "
            + $"this data directory's own journal lies, or for new data an empty one."
    );
