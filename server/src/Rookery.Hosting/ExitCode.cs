namespace Rookery.Hosting;

/// <summary>
/// Exit codes of the process, with the names of sysexits.h where one fits. docs/reference/command-line.md lists them;
/// from version 0.1.0 on they do not change.
/// </summary>
public static class ExitCode
{
    /// <summary>The command succeeded.</summary>
    public const int Success = 0;

    /// <summary>The command failed; one sentence on stderr gives the reason.</summary>
    public const int Failure = 1;

    /// <summary>
    /// EX_DATAERR: some of the input is invalid. Each invalid piece is named on stderr, and the rest is stored.
    /// </summary>
    public const int BadInput = 65;

    /// <summary>EX_NOINPUT: the document, database or index does not exist.</summary>
    public const int NotFound = 66;

    /// <summary>
    /// EX_UNAVAILABLE: the operation that the command waited for was stopped, and resumes only on request.
    /// </summary>
    public const int Stopped = 69;

    /// <summary>EX_TEMPFAIL: the document is not in the expected state, and was not changed.</summary>
    public const int Conflict = 75;

    /// <summary>
    /// EX_CONFIG: the command cannot begin: an option, setting or address is invalid, or another process holds the
    /// directory.
    /// </summary>
    public const int Configuration = 78;

    /// <summary>128 + SIGHUP: ended because the terminal or the connection to it is gone.</summary>
    public const int HungUp = 129;

    /// <summary>128 + SIGINT: ended by Ctrl+C.</summary>
    public const int Interrupted = 130;

    /// <summary>128 + SIGQUIT: ended by Ctrl+\.</summary>
    public const int Quit = 131;

    /// <summary>128 + SIGPIPE: the reader of the output closed it.</summary>
    public const int OutputClosed = 141;

    /// <summary>128 + SIGTERM: ended by another process. `serve` stops cleanly on SIGTERM and ends with 0.</summary>
    public const int Terminated = 143;
}
