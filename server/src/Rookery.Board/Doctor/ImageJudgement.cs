namespace Rookery.Board.Doctor;

/// <summary>Derives the finding about the image that a machine runs. Pure, like <see cref="Judgement"/>.</summary>
public static class ImageJudgement
{
    /// <summary>
    /// After how many days the packages of an image are old: Debian has by then fixed faults in some of them.
    /// </summary>
    public const int MaxPackageAgeDays = 90;

    /// <summary>Returns the finding; none on machines without the image.</summary>
    internal static IEnumerable<Finding> Of(DoctorFacts facts)
    {
        if (facts.Image is { } image)
        {
            yield return image.PackagesLocked switch
            {
                null => new("image", Severity.Ok, $"This machine runs the image {image.Release}."),
                { } locked when facts.Now - locked > TimeSpan.FromDays(MaxPackageAgeDays) => new(
                    "image",
                    Severity.Warning,
                    $"This machine runs the image {image.Release}, whose packages are "
                        + $"{(facts.Now - locked).TotalDays:0} days old: they lack the security fixes since then.",
                    "Install the newest update bundle, also if it has the same version of Rookery."
                ),
                { } locked => new(
                    "image",
                    Severity.Ok,
                    $"This machine runs the image {image.Release}, with packages of {locked.UtcDateTime:yyyy-MM-dd}."
                ),
            };
        }
    }
}
