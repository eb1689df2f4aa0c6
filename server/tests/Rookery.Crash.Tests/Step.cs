using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;

namespace Rookery.Crash.Tests;

/// <summary>A command with its expected effects.</summary>
/// <param name="Command">The encoded command.</param>
/// <param name="After">The expected state after the command.</param>
/// <param name="Answer">The expected outcome, as <see cref="Describe"/> writes it.</param>
internal sealed record Step(CommandBuffer Command, Model After, string Answer)
{
    /// <summary>Describes an outcome in words, for comparisons. Omits log times.</summary>
    public static string Describe(in CommandOutcome outcome)
    {
        if (outcome.Rejection is { } rejection)
        {
            return $"{rejection.Kind} {rejection.Expected} {rejection.Actual} at {rejection.Operation}";
        }

        var text = new StringBuilder();
        for (int i = 0; i < outcome.Count; i++)
        {
            var result = outcome[i];
            text.Append($"{result.Status} {result.Etag} {result.Low}-{result.High} ");
        }

        return text.ToString();
    }

    /// <summary>A step that changes one database.</summary>
    public static Step Of(Model before, CommandBuffer command, ModelDatabase after, long etag, string answer) =>
        new(
            command,
            before with
            {
                Databases = before.Databases.SetItem(after.Number, after with { LastEtag = etag }),
                LastEtag = etag,
            },
            answer
        );
}
