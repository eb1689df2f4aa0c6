namespace Rookery.Journal;

/// <summary>
/// A write or sync of this journal failed. The journal accepts no further write until the node is restarted.
/// </summary>
public sealed class JournalLatchedException : IOException
{
    /// <summary>Creates the exception with the reason why the journal accepts no more writes.</summary>
    public JournalLatchedException(string sentence, Exception? cause)
        : base(sentence, cause) { }
}

/// <summary>
/// Journal bytes that were durable cannot be read back. The message names the file, the offset, the loss and what to
/// do. Nothing was changed on disk.
/// </summary>
public sealed class JournalDamagedException : IOException
{
    /// <summary>
    /// Creates the exception for damage in <paramref name="file"/> from <paramref name="offset"/> on.
    /// </summary>
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
/// A newer version of Rookery wrote the journal, or its directory contains files of two stores. Nothing was changed on
/// disk.
/// </summary>
public sealed class JournalFormatException : IOException
{
    /// <summary>Creates the exception with what was found, where, and what this program can read.</summary>
    public JournalFormatException(string sentence)
        : base(sentence) { }
}

/// <summary>The journal belongs to another store than the one it was opened for. Nothing was changed on disk.</summary>
/// <param name="file">A segment of the other store.</param>
public sealed class ForeignJournalException(string file)
    : IOException(
        $"{file} is the journal of another data directory. Nothing was changed. Name the directory of "
            + $"this data directory's own journal or, for new data, an empty directory."
    );
