using System.Globalization;

namespace Rookery.Board.Doctor;

/// <summary>A stage of a machine's boot.</summary>
/// <param name="Name">What was reached.</param>
/// <param name="Seconds">When, in seconds after the kernel started.</param>
public sealed record BootStage(string Name, double Seconds)
{
    /// <summary>The units whose times are reported.</summary>
    public static IReadOnlyList<string> Units { get; } =
    ["local-fs.target", "rookery-setup.service", "network.target", "rookery-found.service", "rookery.service"];

    private const string Suffix = "TimestampMonotonic=";
    private const double MicrosecondsPerSecond = 1_000_000;

    /// <summary>
    /// Parses the output of `systemctl show` with the properties that end in TimestampMonotonic: of systemd itself, and
    /// of units, each after its `Id`. Stages that were not reached are left out.
    /// </summary>
    /// <param name="output">The output: lines of a name, an equals sign and a value.</param>
    /// <returns>The stages, by time.</returns>
    public static IReadOnlyList<BootStage> Parse(string output)
    {
        var stages = new List<BootStage>();
        foreach (string unit in output.Split("\n\n"))
        {
            string[] lines = unit.Split('\n');
            string? id = Array.Find(lines, static line => line.StartsWith("Id=", StringComparison.Ordinal))?[3..];
            foreach (string line in lines)
            {
                int end = line.IndexOf(Suffix, StringComparison.Ordinal);
                if (
                    end > 0
                    && long.TryParse(
                        line.AsSpan(end + Suffix.Length),
                        NumberStyles.None,
                        CultureInfo.InvariantCulture,
                        out long microseconds
                    )
                    && microseconds > 0
                )
                {
                    stages.Add(new BootStage(id ?? line[..end], microseconds / MicrosecondsPerSecond));
                }
            }
        }

        return [.. stages.OrderBy(static stage => stage.Seconds)];
    }
}
