"""Makes the PDF files of this directory: python make.py, with reportlab, fpdf2 and pymupdf.

The texts are written for these tests. DejaVu Sans is needed for unicode.pdf.
"""
import os

import pymupdf
from fpdf import FPDF
from reportlab import rl_config
from reportlab.lib import colors
from reportlab.lib.enums import TA_JUSTIFY
from reportlab.lib.pagesizes import A5
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.pdfgen import canvas
from reportlab.platypus import (BaseDocTemplate, Frame, ListFlowable, ListItem, PageBreak, PageTemplate,
                                Paragraph, Preformatted, Spacer, Table, TableStyle)

rl_config.invariant = 1
HERE = os.path.dirname(os.path.abspath(__file__))
STYLES = getSampleStyleSheet()
BODY = ParagraphStyle("body", parent=STYLES["Normal"], alignment=TA_JUSTIFY, firstLineIndent=12, fontName="Times-Roman")
BODY2 = ParagraphStyle("body2", parent=BODY, fontSize=8, leading=10)

HARBOUR = (
    "The harbour office keeps a ledger of every vessel that enters between sunrise and sunset. Each entry names the "
    "master, the cargo and the berth, and is signed by the pilot who brought the vessel in. Entries are never erased; "
    "a correction is written below the line that it corrects, with the date and the initials of the clerk.")
TIDES = (
    "Tide tables are printed once a year. The office compares them with the gauge at the eastern mole and notes the "
    "difference, which is seldom more than eleven centimetres. In strong northerly wind the gauge cannot be read, and "
    "the harbour master estimates the level from the steps of the old quay.")
FEES = (
    "Fees depend on length, not on cargo. Vessels below twelve metres pay nothing on the first day. A vessel that stays "
    "longer than a week pays by the week, and one that is laid up for the winter by the season.")


def path(name):
    return os.path.join(HERE, name)


def decorate(c, doc):
    c.saveState()
    c.setFont("Times-Italic", 8)
    c.drawString(40, A5[1] - 28, "Handbook of the Harbour Office")
    c.drawCentredString(A5[0] / 2, 20, "Page %d of 3" % doc.page)
    c.restoreState()


def article():
    doc = BaseDocTemplate(path("article.pdf"), pagesize=A5, title="Handbook of the Harbour Office", author="E. Lindqvist")
    frame = Frame(36, 36, A5[0] - 72, A5[1] - 80)
    doc.addPageTemplates(PageTemplate(frames=[frame], onPage=decorate))
    code = "def fee(length, days):\n    if length < 12:\n        days -= 1\n    return max(days, 0) * length"
    rows = [["Berth", "Depth", "Length"], ["North 1", "4.5 m", "38 m"], ["North 2", "6.0 m", "72 m"], ["East", "9.5 m", "140 m"]]
    table = Table(rows, colWidths=[90, 70, 70])
    table.setStyle(TableStyle([("GRID", (0, 0), (-1, -1), .5, colors.grey)]))
    doc.build([
        Paragraph("Handbook of the Harbour Office", STYLES["Title"]),
        Paragraph("1 The ledger", STYLES["Heading2"]), Paragraph(HARBOUR, BODY), Paragraph(TIDES, BODY),
        Paragraph("2 Berths", STYLES["Heading2"]), table, Spacer(1, 8), PageBreak(),
        Paragraph("3 Fees", STYLES["Heading2"]), Paragraph(FEES, BODY), Spacer(1, 8),
        ListFlowable([ListItem(Paragraph(s, STYLES["Normal"])) for s in (
            "Fishing vessels of the town pay half.", "Vessels in distress pay nothing until the pilot, who decides about it, has left them.",
            "Rowing boats are free.")], bulletType="bullet", start="•"),
        Spacer(1, 8), Preformatted(code, STYLES["Code"]), PageBreak(),
        Paragraph("4 Levels", STYLES["Heading2"]), Paragraph(TIDES, BODY), Paragraph(
            "H<sub>2</sub>O and 10<super>3</super> m are written as here; <b>bold</b> and <i>italic</i> words stay in their sentence.", BODY),
    ])


def columns():
    doc = BaseDocTemplate(path("columns.pdf"), pagesize=A5, title="untitled")
    w = (A5[0] - 88) / 2
    doc.addPageTemplates(PageTemplate(frames=[
        Frame(36, A5[1] - 100, A5[0] - 72, 70, showBoundary=0),
        Frame(36, 60, w, A5[1] - 170), Frame(36 + w + 16, 60, w, A5[1] - 170)]))
    body = [Paragraph("Rule %d. %s" % (i + 1, s), BODY2) for i, s in enumerate((HARBOUR, TIDES, FEES) * 3)]
    doc.build([Paragraph("On Harbours, in Two Columns", STYLES["Title"]), Spacer(1, 200)] + body)


def scan():
    c = canvas.Canvas(path("scan.pdf"), pagesize=(200, 200))
    c.drawInlineImage(__import__("PIL.Image").Image.new("L", (8, 8), 128), 0, 0, 200, 200)
    c.save()


def unicode():
    p = FPDF(format="A5")
    p.set_title("Größen und Maße")
    p.set_creation_date(__import__("datetime").datetime(2026, 1, 1, tzinfo=__import__("datetime").timezone.utc))
    p.add_font("d", "", "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")
    p.add_page()
    p.set_font("d", size=11)
    for s in ("Größe, naïve façade, œuvre: die Maße der Brücke in Fuß.", "Скорость ветра измеряют утром и вечером.",
              "Η θάλασσα είναι ήρεμη.", "Čtyři lodě čekají; żegluga wstrzymana."):
        p.multi_cell(0, 8, s, new_x="LMARGIN", new_y="NEXT")
        p.ln(6)
    p.output(path("unicode.pdf"))


def saved():
    keep = dict(garbage=4, deflate=True, no_new_id=True)
    d = pymupdf.open(path("article.pdf"))
    d.select([2])
    d.save(path("objstm.pdf"), use_objstms=1, **keep)
    for name, method, user in (("rc4.pdf", pymupdf.PDF_ENCRYPT_RC4_128, ""), ("aes128.pdf", pymupdf.PDF_ENCRYPT_AES_128, ""),
                               ("aes256.pdf", pymupdf.PDF_ENCRYPT_AES_256, ""), ("password.pdf", pymupdf.PDF_ENCRYPT_AES_256, "tide")):
        d.save(path(name), encryption=method, owner_pw="owner", user_pw=user, **keep)
    d[0].set_rotation(90)
    d.save(path("rotated.pdf"), **keep)


if __name__ == "__main__":
    for make in (article, columns, scan, unicode, saved):
        make()
