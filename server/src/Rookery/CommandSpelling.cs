using System.CommandLine;
using Rookery.Platform;

namespace Rookery;

/// <summary>Suggests the command or option that the user probably meant by a misspelt word.</summary>
internal static class CommandSpelling
{
    /// <summary>Returns a question to append to the error message; empty if no name is similar.</summary>
    public static string Suggest(string word, Command command)
    {
        string[] words = IsOption(word)
            ? [.. command.Options.Where(static option => !option.Hidden).Select(static option => option.Name)]
            : [.. command.Subcommands.Where(static sub => !sub.Hidden).Select(static sub => sub.Name)];
        // People who know other programs type `rookery help` and `rookery version`.
        string? meant = word is "help" or "version" ? $"--{word}" : Spelling.FindSimilar(word, words);
        return meant is null ? string.Empty : $" Did you mean {meant}?";
    }

    private static bool IsOption(string word) => word.StartsWith('-');
}
