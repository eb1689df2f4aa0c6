using Rookery.Access;
using Rookery.Hosting;

namespace Rookery.Terminal;

/// <summary>Asks whoever sits there.</summary>
internal static class Question
{
    /// <summary>Has a name typed before something is done that cannot be undone.</summary>
    /// <param name="what">What will be done, as a sentence.</param>
    /// <param name="name">The name to type.</param>
    /// <param name="instead">How it is said where nobody can be asked.</param>
    /// <exception cref="AdminException">Another name was typed, or nobody can be asked: nothing is done.</exception>
    public static void Confirm(string what, string name, string instead)
    {
        Console.Error.WriteLine(what);
        if (!Tty.CanAsk)
        {
            throw new AdminException(
                $"Nobody can be asked here, so nothing was changed; say {instead}.",
                ExitCode.Configuration
            );
        }

        Console.Error.Write($"Type {name} to go on, or anything else to leave all as it is: ");
        if (!string.Equals(Console.In.ReadLine()?.Trim(), name, StringComparison.Ordinal))
        {
            throw new AdminException($"That is not {name}, so nothing was changed.", ExitCode.Failure);
        }
    }

    /// <summary>Reads a line that is not shown while it is typed.</summary>
    public static string ReadSecret(string question)
    {
        Console.Error.Write(question);
        var typed = new System.Text.StringBuilder();
        while (Console.ReadKey(intercept: true) is { Key: not ConsoleKey.Enter } key)
        {
            if (key.Key == ConsoleKey.Backspace)
            {
                typed.Length = Math.Max(0, typed.Length - 1);
            }
            else if (!char.IsControl(key.KeyChar))
            {
                typed.Append(key.KeyChar);
            }
        }

        Console.Error.WriteLine();
        return typed.ToString();
    }
}
