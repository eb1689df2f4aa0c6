using Rookery.Access;
using Rookery.Hosting;

namespace Rookery.Terminal;

/// <summary>Asks the user on the terminal.</summary>
internal static class Question
{
    /// <summary>Asks the user to type a name before something irreversible is done.</summary>
    /// <param name="consequence">What will be done, as a sentence.</param>
    /// <param name="name">The name to type.</param>
    /// <param name="confirmingOption">The option that confirms without a terminal.</param>
    /// <exception cref="AdminException">Another name was typed, or there is no terminal. The caller must not act
    /// then.</exception>
    public static void Confirm(string consequence, string name, string confirmingOption)
    {
        Console.Error.WriteLine(consequence);
        if (!Tty.CanAsk)
        {
            throw new AdminException(
                $"There is no terminal to ask for confirmation, so nothing was changed. Pass {confirmingOption}.",
                ExitCode.Configuration
            );
        }

        Console.Error.Write($"Type {name} to go on, or anything else to change nothing: ");
        if (!string.Equals(Console.In.ReadLine()?.Trim(), name, StringComparison.Ordinal))
        {
            throw new AdminException($"That is not {name}, so nothing was changed.", ExitCode.Failure);
        }
    }

    /// <summary>Reads a line without showing it.</summary>
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
