namespace Rookery.Board.Tests;

/// <summary>The speed classes that an SD card reports in its SD Status register.</summary>
public sealed class SdClassesTests
{
    /// <summary>The SD Status of a card of class 10, U1, V10 and A1: bytes 8, 14, 15 and 21 of 64.</summary>
    internal const string ClassTen = "0000000000000000" + "0400900008111a0a" + "0000000000010000" + Zeros;

    private const string Zeros =
        "0000000000000000000000000000000000000000000000000000000000000000" + "0000000000000000";

    [Fact]
    public void The_classes_of_a_card_are_read_from_its_status_register()
    {
        Assert.Equal(new SdClasses(Speed: 10, Uhs: 1, Video: 10, Application: 1), SdClasses.Parse(ClassTen));
        Assert.Equal("class 10, U1, V10, A1", SdClasses.Parse(ClassTen)!.ToString());

        // From a dump of a Samsung card of 2014 (class 6, neither UHS nor video), whose register ends where its
        // specification did.
        Assert.Equal(
            new SdClasses(Speed: 6, Uhs: 0, Video: 0, Application: 0),
            SdClasses.Parse("0000000003000000" + "0303900008110900" + "0000000000000000" + Zeros)
        );
    }

    [Fact]
    public void Codes_that_the_specification_does_not_define_are_unknown()
    {
        Assert.Equal(
            new SdClasses(Speed: null, Uhs: null, Video: null, Application: null),
            SdClasses.Parse("0000000000000000" + "0500000000002011" + "00000000000f0000" + Zeros)
        );
    }

    [Theory]
    [InlineData("")]
    [InlineData("0400")]
    [InlineData(
        "zz00000000000000040090000811300a00000000000100000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    )]
    [InlineData(
        "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    )]
    public void Other_text_than_a_register_gives_no_classes(string register) => Assert.Null(SdClasses.Parse(register));
}
