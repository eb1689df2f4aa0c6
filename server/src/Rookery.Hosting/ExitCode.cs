namespace Rookery.Hosting;

/// <summary>
/// How the process ends, by the names of sysexits.h where there is one. They are listed in
/// docs/reference/command-line.md and, from version 0.1.0 on, do not change.
/// </summary>
public static class ExitCode
{
    /// <summary>It did what it was asked.</summary>
    public const int Success = 0;

    /// <summary>It could not do what it was asked; one sentence on stderr says why.</summary>
    public const int Failure = 1;

    /// <summary>
    /// EX_DATAERR: some of the input could not be taken; each piece is named on stderr, and the rest is stored.
    /// </summary>
    public const int BadInput = 65;

    /// <summary>EX_NOINPUT: there is no such document, database or index.</summary>
    public const int NotFound = 66;

    /// <summary>EX_UNAVAILABLE: what was waited for was stopped by somebody, and will not go on by itself.</summary>
    public const int Stopped = 69;

    /// <summary>EX_TEMPFAIL: the document is not in the state that was expected of it, and was left alone.</summary>
    public const int Conflict = 75;

    /// <summary>
    /// EX_CONFIG: it was asked for something it cannot do: a wrong option, setting or address, or a directory another
    /// process holds.
    /// </summary>
    public const int Configuration = 78;

    /// <summary>128 and SIGINT: ended by Ctrl+C.</summary>
    public const int Interrupted = 130;

    /// <summary>128 and SIGPIPE: who read the output went away.</summary>
    public const int OutputClosed = 141;

    /// <summary>128 and SIGTERM: ended by somebody else's word. `serve` ends by it cleanly, with 0.</summary>
    public const int Terminated = 143;
}
