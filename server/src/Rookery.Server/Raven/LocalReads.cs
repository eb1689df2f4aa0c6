namespace Rookery.Server.Raven;

/// <summary>
/// Sentences added to the refusal of a read while this node cannot confirm the latest state: how to read what this node
/// has instead.
/// </summary>
public static class LocalReads
{
    /// <summary>For programs that send HTTP requests.</summary>
    public const string ForPrograms = " With consistency=local it answers what it has, which may be older.";

    /// <summary>For users of commands with the option --local.</summary>
    public const string ForCommands = " With --local it prints what this node has, which may be older.";

    /// <summary>For users of the page, or of commands without such an option.</summary>
    public const string ForPeople = " The page of this node shows what it has meanwhile, which may be older.";
}
