using Rookery.Board.Doctor;

namespace Rookery.Board.Tests.Doctor;

/// <summary>Tests the finding about the image that a machine runs.</summary>
public sealed class ImageJudgementTests
{
    [Theory]
    [InlineData(90, Severity.Ok, "This machine runs the image 0.2.0+os1, with packages of 2026-08-24.")]
    [InlineData(
        91,
        Severity.Warning,
        "This machine runs the image 0.2.0+os1, whose packages are 91 days old: they lack the security fixes since "
            + "then."
    )]
    [InlineData(null, Severity.Ok, "This machine runs the image 0.2.0+os1.")]
    public void The_age_of_the_images_packages_is_judged(int? days, Severity severity, string sentence)
    {
        var well = HealthyMachine.Well;
        DateTimeOffset? locked = days is { } age ? well.Now.AddDays(-age) : null;
        var finding = Assert.Single(
            Judgement.Of(well with { Image = new ImageFacts("0.2.0+os1", locked) }),
            static finding => finding.Subject is "image"
        );
        Assert.Equal((severity, sentence), (finding.Severity, finding.Sentence));
        Assert.Equal(severity == Severity.Ok, finding.Fix is null);
    }

    [Fact]
    public void A_machine_without_the_image_has_no_finding_about_it() =>
        Assert.DoesNotContain(Judgement.Of(HealthyMachine.Well), static finding => finding.Subject is "image");
}
