namespace Rookery.Server.Raven;

/// <summary>
/// Sentences for the refusal of a read while this node cannot confirm that it is up to date: how to read this node's
/// own state instead.
/// </summary>
public static class LocalReads
{
    /// <summary>Sentence for programs that send HTTP requests.</summary>
    public const string ForPrograms = " With consistency=local it answers what it has, which may be older.";

    /// <summary>Sentence for users of commands with the option --local.</summary>
    public const string ForCommands = " With --local it prints what this node has, which may be older.";

    /// <summary>Sentence for users of commands without that option.</summary>
    public const string ForOtherCommands =
        " `rookery get --local` and `rookery query --local` print what this node has, which may be older.";

    /// <summary>Sentence for users of the dashboard.</summary>
    public const string ForPeople = " The page of this node shows what it has meanwhile, which may be older.";
}
