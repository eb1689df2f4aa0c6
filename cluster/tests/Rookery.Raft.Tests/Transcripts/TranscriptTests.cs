namespace Rookery.Raft.Tests.Transcripts;

/// <summary>
/// Scenarios of the core that can be read without knowing C#: messages and states of members, command by command.
/// </summary>
public sealed class TranscriptTests
{
    /// <summary>The lines that fit a tall screen.</summary>
    private const int MaxLines = 75;

    public static TheoryData<string> Names => [.. Transcript.Names];

    public static TheoryData<string, string> Falls
    {
        get
        {
            TheoryData<string, string> falls = [];
            foreach (string name in Transcript.Names)
            {
                Array.ForEach(Transcript.Read(name).Falls, bug => falls.Add(name, bug));
            }

            return falls;
        }
    }

    [Theory]
    [MemberData(nameof(Names))]
    public void The_expectations_of_a_transcript_hold(string name)
    {
        var transcript = Transcript.Read(name);
        string played = transcript.Play(PlantedBug.None);
        if (Environment.GetEnvironmentVariable(Transcript.RewriteVariable) is "1")
        {
            transcript.Write(played);
            return;
        }

        string? difference = transcript.DifferenceWith(played);
        Assert.True(difference is null, difference);
    }

    [Theory]
    [MemberData(nameof(Falls))]
    public void A_planted_bug_breaks_an_expectation(string name, string bug)
    {
        var transcript = Transcript.Read(name);
        string? difference;
        try
        {
            difference = transcript.DifferenceWith(transcript.Play(PlantedBugs.All[bug]));
        }
        catch (Exception broken) when (broken is ConsensusException or Xunit.Sdk.XunitException)
        {
            difference = broken.Message;
        }

        Assert.NotNull(difference);
    }

    [Theory]
    [MemberData(nameof(Names))]
    public void A_transcript_fits_a_screen_and_begins_with_its_description(string name)
    {
        var lines = Transcript.Read(name).Lines;
        Assert.True(lines.Count <= MaxLines, $"{name} has {lines.Count} lines, more than {MaxLines}");
        Assert.StartsWith("# ", lines[0], StringComparison.Ordinal);
        Assert.NotEmpty(Transcript.Read(name).Falls);
    }
}
