namespace Rookery;

/// <summary>How the process ends, by the names of sysexits.h.</summary>
internal static class ExitCode
{
    /// <summary>It did what it was asked.</summary>
    public const int Success = 0;

    /// <summary>It could not do what it was asked; one sentence on stderr says why.</summary>
    public const int Failure = 1;

    /// <summary>EX_CONFIG: it was asked for something it cannot do: a wrong option, setting or address, or a directory another process holds.</summary>
    public const int Configuration = 78;
}
