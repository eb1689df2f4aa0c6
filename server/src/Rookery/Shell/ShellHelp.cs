namespace Rookery.Shell;

/// <summary>The commands of the shell that are not RQL.</summary>
internal static class ShellHelp
{
    private static readonly (string Name, string Argument, string Description)[] All =
    [
        (@"\?", "", "this help"),
        (@"\d", "[NAME]", "list collections and indexes; or the fields of a collection, the definition of an index"),
        (@"\l", "", "list databases"),
        (@"\c", "DB", "use another database"),
        (@"\explain", "RQL", "show which index a query would use, and why"),
        (@"\json", "", "print results as JSON, and back to tables"),
        (@"\rows", "[NUMBER]", "print at most NUMBER results of a query without limit; without NUMBER all"),
        (@"\timing", "", "print how long the parts of each query take, and stop it"),
        (@"\set", "[NAME VALUE]", "set the parameter $NAME to JSON or a text; without NAME list all"),
        (@"\unset", "NAME", "remove a parameter"),
        (@"\q", "", "end the shell, as Ctrl+D does"),
    ];

    /// <summary>The names of the commands.</summary>
    public static IEnumerable<string> Commands => All.Select(static command => command.Name);

    /// <summary>The lines of the help.</summary>
    public static IEnumerable<string> Lines =>
        [
            "Statements end with ; and may have several lines:",
            "  from Orders where Total > 100 order by Date desc limit 10;   find documents",
            "  from Orders where Total > 100 update { this.Large = true };  change documents, after a question",
            "  delete from Orders where Total = 0;                          delete documents, after a question",
            "",
            .. All.Select(static command => $"  {$"{command.Name} {command.Argument}", -18}{command.Description}"),
            "",
            "Tab completes names, fields and words of RQL. Up and down recall statements; Ctrl+R searches them.",
            "Ctrl+C abandons what is typed, or stops a running statement.",
        ];
}
