using System.CommandLine;
using System.Globalization;

namespace Rookery;

/// <summary>Creates options for a whole number within bounds.</summary>
internal static class WholeNumber
{
    /// <summary>
    /// Creates an option whose value is null if it is not given. Other values than whole numbers within the bounds are
    /// refused with the option's name.
    /// </summary>
    /// <param name="name">The option's name, with its hyphens.</param>
    /// <param name="description">The help text.</param>
    /// <param name="helpName">The name of the value in the help, such as "NUMBER".</param>
    /// <param name="least">The least allowed number.</param>
    /// <param name="most">The greatest allowed number.</param>
    public static Option<int?> Option(string name, string description, string helpName, int least, int most) =>
        new(name)
        {
            Description = description,
            HelpName = helpName,
            CustomParser = argument =>
            {
                string text = argument.Tokens[0].Value;
                if (
                    int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out int number)
                    && number >= least
                    && number <= most
                )
                {
                    return number;
                }

                argument.AddError(
                    string.Create(
                        CultureInfo.InvariantCulture,
                        $"{name} must be a whole number from {least} to {most}, not \"{text}\"."
                    )
                );
                return null;
            },
        };
}
