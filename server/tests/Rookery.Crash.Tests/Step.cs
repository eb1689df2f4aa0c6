using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;

namespace Rookery.Crash.Tests;

/// <summary>What a command should come to: the model after it, and what its caller should hear.</summary>
/// <param name="Command">The encoded command.</param>
/// <param name="After">The model after it.</param>
/// <param name="Answer">Its outcome, as <see cref="Describe"/> writes it.</param>
internal sealed record Step(CommandBuffer Command, Model After, string Answer)
{
    /// <summary>An outcome in words, to compare. Log times are left out.</summary>
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
