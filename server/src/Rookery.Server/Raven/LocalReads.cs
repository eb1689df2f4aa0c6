namespace Rookery.Server.Raven;

/// <summary>
/// What a refusal of a read adds while nobody can say what is newest: how to have it from this node alone all the same.
/// </summary>
public static class LocalReads
{
    /// <summary>For whoever writes the request.</summary>
    public const string ForPrograms = " With consistency=local it answers what it has, which may be older.";

    /// <summary>For whoever runs a command that has the option.</summary>
    public const string ForCommands = " With --local it prints what this node has, which may be older.";

    /// <summary>For whoever looks at the page, or runs another command, where no such thing can be written.</summary>
    public const string ForPeople = " The page of this node shows what it has meanwhile, which may be older.";
}
