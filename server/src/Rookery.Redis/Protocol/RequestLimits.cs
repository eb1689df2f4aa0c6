namespace Rookery.Redis.Protocol;

/// <summary>Bounds of requests; those without a parameter are Redis' own.</summary>
/// <param name="MaxCommandBytes">Longest command in bytes; longer ones are skipped.</param>
internal sealed record RequestLimits(int MaxCommandBytes)
{
    /// <summary>Longest argument in bytes; a longer one ends the connection.</summary>
    public const long MaxBulkBytes = 512L << 20;

    /// <summary>Maximum number of arguments of one command.</summary>
    public const int MaxArguments = 1 << 20;

    /// <summary>Longest inline command, and longest line with a length, in bytes.</summary>
    public const int MaxLineBytes = 64 << 10;

    /// <summary>Maximum number of arguments of a command before the client has authenticated.</summary>
    public const int MaxUnknownArguments = 10;

    /// <summary>Longest argument before the client has authenticated, in bytes.</summary>
    public const int MaxUnknownBulkBytes = 16 << 10;
}
